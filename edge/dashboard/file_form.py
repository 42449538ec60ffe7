"""A form with a file, read as it arrives: its token, then the file, block by block."""

from aiohttp import BodyPartReader, MultipartReader, web

from edge.dashboard.page_requests import PageError
from edge.http.pace import BodyPace

BLOCK_BYTES = 1 << 18
_TOKEN_BYTES_MAX = 1_024
# A slow line that people still use has twice as much. nginx ends a pause of ten seconds.
BYTES_PER_SECOND_MIN = 16 * 1024
GRACE_SECONDS = 20.0


class FileForm:
    """Reads a multipart form with the fields `csrf` and `file`, in this order.

    Raises PageError: 400 for what is no such form, 408 for one that arrives too slowly.
    """

    def __init__(self, request: web.Request) -> None:
        self._request = request
        self._pace = BodyPace(GRACE_SECONDS, BYTES_PER_SECOND_MIN)
        self._reader: MultipartReader | None = None
        self._file: BodyPartReader | None = None

    async def token(self) -> str:
        """Return the token in the first field; empty where the first field is another one."""
        if self._request.content_type != "multipart/form-data":
            raise PageError(415, "Send the form as a browser does.")
        part = await self._next_part()
        if part is None or part.name != "csrf":
            return ""
        try:
            return (await self._block(part, _TOKEN_BYTES_MAX)).decode("ascii")
        except UnicodeDecodeError:
            raise _unreadable() from None

    async def file_name(self) -> str:
        """Return the name of the file in the next field. Raises PageError where no file was chosen."""
        part = await self._next_part()
        if part is None or part.name != "file" or not part.filename:
            raise PageError(400, "Choose a file.")
        self._file = part
        return part.filename

    async def block(self) -> bytes:
        """Return more of the file; nothing at its end."""
        assert self._file is not None
        return await self._block(self._file, BLOCK_BYTES)

    async def _next_part(self) -> BodyPartReader | None:
        try:
            async with self._pace.bound_wait():
                if self._reader is None:
                    self._reader = await self._request.multipart()
                part = await self._reader.next()
        except TimeoutError:
            raise _too_slow() from None
        except Exception:  # noqa: BLE001 - whatever the library raises while it reads, the form is at fault
            raise _unreadable() from None
        return part if isinstance(part, BodyPartReader) else None

    async def _block(self, part: BodyPartReader, most: int) -> bytes:
        try:
            async with self._pace.bound_wait():
                block = await part.read_chunk(most)
        except TimeoutError:
            raise _too_slow() from None
        except Exception:  # noqa: BLE001 - as above
            raise PageError(400, "The upload is incomplete. Upload the file again.") from None
        self._pace.count(len(block))
        return block


def _too_slow() -> PageError:
    least = f"{BYTES_PER_SECOND_MIN // 1024} kB a second"
    return PageError(
        408, f"The upload is slower than {least}. Use a faster line, or load the file by `itemindex ingest`."
    )


def _unreadable() -> PageError:
    return PageError(400, "The form cannot be read.")
