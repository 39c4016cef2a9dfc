"""What fails raises one of these, with the sentence that the program would print."""


class Error(RuntimeError):
    """Something failed. `status` says who can act, in the numbers with which the program ends:
    2 the caller, 3 bad bytes in a file, 4 the machine, 5 training diverged, 6 it missed its target,
    1 a fault of cloze."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class UsageError(Error, ValueError):
    """An argument, option or path that the caller can put right: status 2."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message, status)
