"""Wrong: it asks again without a pause."""

from right import Answer, Checkout


class Wrong(Checkout):
    def wait(self, answer: Answer | None) -> None:
        if answer is not None and answer.status not in (200, 202):
            super().wait(answer)


if __name__ == "__main__":
    Wrong().run()
