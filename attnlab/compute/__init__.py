"""Where and when the mathematics runs: devices, requests and replies, newest wins."""
