"""A shop and an operator call a daemon, with clients that openapi-python-client made."""

import datetime
import os

import httpx
import reconciled_operations_client as operators
import reconciled_payments_client as callers
from reconciled_operations_client import models as seen
from reconciled_operations_client.api.comparisons import get_reconciliation, list_discrepancies, start_reconciliation
from reconciled_operations_client.api.payments import explain_payment, list_payment_events
from reconciled_operations_client.api.probes import get_metrics, get_readiness
from reconciled_operations_client.api.repairs import propose_repair
from reconciled_operations_client.api.site import get_site
from reconciled_payments_client.api.description import get_description
from reconciled_payments_client.api.payments import (
    cancel_payment,
    capture_payment,
    create_payment,
    get_payment,
    list_payments,
    refund_payment,
)
from reconciled_payments_client.models import (
    CapturePayment,
    CreateLeg,
    CreatePayment,
    Payment,
    PaymentPage,
    PositiveMoney,
    Problem,
    ProblemType,
    Refund,
    RefundPayment,
)

UNKNOWN = "0" * 40


def yen(value: int) -> PositiveMoney:
    return PositiveMoney(value=value, currency="JPY")


def problem(answer: object, status: int, kind: ProblemType) -> None:
    assert isinstance(answer, Problem), answer
    assert (answer.status, answer.type_) == (status, kind), answer


def order(instrument: str, value: int) -> CreatePayment:
    deadline = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=10)
    return CreatePayment(
        amount=yen(value + 300),
        legs=[
            CreateLeg(provider="card", instrument=instrument, amount=yen(value)),
            CreateLeg(provider="wallet", instrument="member-1", amount=yen(300)),
        ],
        capture="manual",
        reference="order-1",
        deadline=deadline,
    )


def shop(client: callers.AuthenticatedClient) -> Payment:
    body = order("tok-1", 1200)
    first = create_payment.sync_detailed(client=client, body=body, idempotency_key="order-1/create", prefer="wait=20")
    created = first.parsed
    assert first.status_code == 201 and isinstance(created, Payment), first
    assert created.state == "authorized" and created.reason is None, created
    again = create_payment.sync_detailed(client=client, body=body, idempotency_key="order-1/create")
    assert again.parsed == created and again.headers["Idempotent-Replayed"] == "true", again
    other = create_payment.sync(client=client, body=order("tok-1", 900), idempotency_key="order-1/create")
    problem(other, 422, "/problems/idempotency-key-reused")

    captured = capture_payment.sync(
        created.id, client=client, body=CapturePayment(), idempotency_key="order-1/capture", prefer="wait=20"
    )
    assert isinstance(captured, Payment) and captured.state == "succeeded", captured
    twice = cancel_payment.sync(created.id, client=client, idempotency_key="order-1/cancel")
    problem(twice, 409, "/problems/too-late")

    part = RefundPayment.from_dict({"legs": [{"index": 0, "amount": yen(200).to_dict()}], "reason": "One came back."})
    refund = refund_payment.sync(
        created.id, client=client, body=part, idempotency_key="order-1/refund-1", prefer="wait=20"
    )
    assert isinstance(refund, Refund) and refund.state == "succeeded", refund
    read = get_payment.sync(created.id, client=client)
    assert isinstance(read, Payment) and read.refunded.value == 200 and read.refunds == [refund], read
    problem(get_payment.sync(f"pay_{UNKNOWN}", client=client), 404, "/problems/not-found")

    declined = create_payment.sync(
        client=client, body=order("decline", 500), idempotency_key="order-2/create", prefer="wait=20"
    )
    assert isinstance(declined, Payment) and declined.state == "failed", declined
    assert declined.reason is not None and declined.reason.code == "declined", declined
    before = (created.created_at - datetime.timedelta(seconds=1)).isoformat()
    page = list_payments.sync(
        client=client, reference="order-1", state="succeeded", created_after=before, limit=5
    )
    assert isinstance(page, PaymentPage) and page.data == [read] and page.next_cursor is None, page
    description = get_description.sync(client=client)
    assert description is not None and description.startswith("openapi:"), description
    return read


def operator(client: operators.AuthenticatedClient, payment: Payment) -> None:
    probe = get_readiness.sync(client=client, verbose="true")
    assert isinstance(probe, seen.Probe) and probe.status == "pass", probe
    metrics = get_metrics.sync(client=client)
    assert metrics is not None and metrics.endswith("# EOF\n"), metrics
    explanation = explain_payment.sync(payment.id, client=client)
    assert isinstance(explanation, seen.Explanation) and explanation.decision is None, explanation
    assert [leg.standing for leg in explanation.legs] == ["taken"] * 2, explanation
    events = list_payment_events.sync(payment.id, client=client, limit=1)
    assert isinstance(events, seen.EventPage) and events.next_cursor is not None, events
    rest = list_payment_events.sync(payment.id, client=client, cursor=events.next_cursor)
    assert isinstance(rest, seen.EventPage) and rest.data[0].sequence == 2, rest

    now = datetime.datetime.now(datetime.timezone.utc)
    window = [now - datetime.timedelta(hours=hours) for hours in (3, 2)]
    asked = seen.StartReconciliation(provider="card", from_=window[0], to=window[1], dry_run=True)
    run = start_reconciliation.sync(client=client, body=asked)
    assert isinstance(run, seen.Reconciliation) and run.kind == "asked", run
    assert isinstance(get_reconciliation.sync(run.id, client=client), seen.Reconciliation)
    found = list_discrepancies.sync(client=client, state="all")
    assert isinstance(found, seen.DiscrepancyPage) and found.data == [], found
    proposal = seen.ProposeLegRepair(
        payment_id=payment.id,
        leg=0,
        action="resume",
        evidence=seen.RepairEvidence(text="Their mail of today."),
        version=explanation.version,
    )
    refused = propose_repair.sync(client=client, body=proposal)
    assert isinstance(refused, seen.Problem) and refused.status == 409, refused
    assert refused.type_ == "/problems/state-conflict", refused
    site = get_site.sync(client=client)
    assert isinstance(site, seen.Site) and site.role == "active", site


def main() -> None:
    url = os.environ["PAYMENTS_URL"]
    caller = callers.AuthenticatedClient(
        url, os.environ["CALLER_TOKEN"], timeout=httpx.Timeout(40), raise_on_unexpected_status=True
    )
    stranger = callers.AuthenticatedClient(url, "none-of-theirs", raise_on_unexpected_status=True)
    problem(list_payments.sync(client=stranger), 401, "/problems/unauthorized")
    payment = shop(caller)
    admin = operators.AuthenticatedClient(
        os.environ["OPERATIONS_URL"], os.environ["OPERATOR_TOKEN"], raise_on_unexpected_status=True
    )
    operator(admin, payment)


if __name__ == "__main__":
    main()
