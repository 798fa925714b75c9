"""The actions on real models: opening one, switching heads off, and what can be taken out."""

from typing import TYPE_CHECKING, Any

from attnlab.ui.base.actions import Action, Context

if TYPE_CHECKING:
    from attnlab.ui.models.models_workspace import ModelsWorkspace, Tools


def models_actions(models: "Context[ModelsWorkspace]") -> list[Action[Any]]:
    """Return the actions on models; each shows the workspace first."""
    tools: Context[Tools] = models.part(lambda workspace: workspace.tools)

    def has_model(workspace: "ModelsWorkspace") -> bool:
        return workspace.session.overview is not None

    return [
        Action("model-choose", "Open a model…", "Models", tools, lambda t: t.choose_model()),
        Action("model-folder", "Open a model’s folder…", "Models", tools, lambda t: t.choose_folder()),
        Action("model-text", "Open a text for the model…", "Models", tools, lambda t: t.choose_text()),
        Action("model-texts", "Compare several texts in the model…", "Models", tools, lambda t: t.show_texts()),
        Action(
            "model-switch",
            "Switch the head off",
            "Models",
            models,
            lambda m: m.toggle_shown(),
            enabled=has_model,
            title_now=lambda m: f"Switch {m.effect.switch.accessibleName().removesuffix(' on')} off or on",
            hint="Delete on the maps",
        ),
        Action(
            "model-remove-all",
            "Remove all changes of the model",
            "Models",
            models,
            lambda m: m.session.remove_all(),
            enabled=lambda m: m.session.state.is_changed,
        ),
        Action(
            "model-playground",
            "Open the model’s layer in the playground",
            "Models",
            tools,
            lambda t: t.trip.open(),
            hint="With its true weights, tokens and hidden states",
        ),
        Action(
            "model-present",
            "Present the diagram of the open model",
            "Models",
            models,
            lambda m: m.present(),
            enabled=lambda m: m.session.overview is not None,
            hint="On the whole screen, block by block; F5 if no lesson is open",
        ),
        Action("model-export", "Export the model’s maps…", "Models", tools, lambda t: t.export_figure()),
        Action(
            "model-export-all",
            "Export all heads of the model as one page…",
            "Models",
            tools,
            lambda t: t.export_figure(everything=True),
        ),
    ]
