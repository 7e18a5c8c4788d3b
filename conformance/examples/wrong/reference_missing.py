"""Wrong: it sends no reference, and a person who looks for the order's payment does not find it."""

from typing import Any

from right import Checkout


class Wrong(Checkout):
    def new_request(self) -> dict[str, Any]:
        request = super().new_request()
        del request["body"]["reference"]
        return request


if __name__ == "__main__":
    Wrong().run()
