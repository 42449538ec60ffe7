"""`python -m workers.dispatch`: a dispatcher, until SIGTERM or SIGINT."""

from shared.processes import imports_for_good

if __name__ == "__main__":
    with imports_for_good():
        from workers.dispatch.dispatcher import main
    main()
