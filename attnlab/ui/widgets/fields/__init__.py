"""Fields, pills and switches that edit a setting."""
