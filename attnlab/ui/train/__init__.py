"""The training workspace: settings and controls, maps, curves and a time line. Imported when it is first shown."""
