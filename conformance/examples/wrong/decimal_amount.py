"""Wrong: it takes the minor unit for a hundredth. The yen has none."""

from typing import Any

from right import Checkout


class Wrong(Checkout):
    def new_request(self) -> dict[str, Any]:
        request = super().new_request()
        request["body"]["amount"]["value"] *= 100
        return request


if __name__ == "__main__":
    Wrong().run()
