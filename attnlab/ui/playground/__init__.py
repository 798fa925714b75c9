"""The playground: inputs, canvas, explanation."""
