"""What every request passes before its handler: one middleware a module, listed in edge/app.py."""
