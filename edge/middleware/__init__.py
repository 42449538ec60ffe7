"""The middlewares that every request passes before its handler, one to a module; edge/app.py lists their order."""
