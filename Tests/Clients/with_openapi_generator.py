"""A shop and an operator call a daemon, with clients that openapi-generator made. An error of the daemon is an
exception there, and the problem is its `data`."""

import datetime
import os
from collections.abc import Callable

import operations_client as operators
import payments_client as callers
from operations_client.exceptions import ApiException as OperatorsError
from payments_client.exceptions import ApiException

UNKNOWN = "0" * 40


def yen(value: int) -> callers.PositiveMoney:
    return callers.PositiveMoney(value=value, currency="JPY")


def problem(call: Callable[[], object], status: int, kind: str) -> None:
    try:
        answer = call()
    except ApiException as error:
        assert isinstance(error.data, callers.Problem), error
        assert (error.data.status, error.data.type.value) == (status, kind), error.data
        return
    raise AssertionError(f"no problem, but {answer}")


def order(instrument: str) -> callers.CreatePayment:
    deadline = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=10)
    return callers.CreatePayment(
        amount=yen(1500),
        legs=[callers.CreateLeg(provider="card", instrument=instrument, amount=yen(1500))],
        capture=callers.CaptureMode.MANUAL,
        reference="order-3",
        metadata={"cart": "c-5512"},
        deadline=deadline,
    )


def shop(client: callers.ApiClient) -> callers.Payment:
    api = callers.PaymentsApi(client)
    body = order("tok-1")
    first = api.create_payment_with_http_info("order-3/create", body, prefer="wait=20")
    created = first.data
    assert first.status_code == 201 and created.state == callers.PaymentState.AUTHORIZED, first
    assert created.reason is None and created.metadata == {"cart": "c-5512"}, created
    again = api.create_payment_with_http_info("order-3/create", body)
    assert again.data == created and again.headers is not None, again
    assert again.headers["Idempotent-Replayed"] == "true", again
    problem(lambda: api.create_payment("order-3/create", order("x")), 422, "/problems/idempotency-key-reused")

    captured = api.capture_payment("order-3/capture", created.id, prefer="wait=20")
    assert captured.state == callers.PaymentState.SUCCEEDED, captured
    problem(lambda: api.cancel_payment("order-3/cancel", created.id), 409, "/problems/too-late")
    part = callers.RefundPayment(amount=yen(200), reason="One came back.")
    refund = api.refund_payment("order-3/refund-1", created.id, prefer="wait=20", refund_payment=part)
    assert refund.state == callers.RefundState.SUCCEEDED and refund.reason is not None, refund
    read = api.get_payment(created.id)
    assert read.refunded.value == 200 and read.refunds == [refund], read
    problem(lambda: api.get_payment(f"pay_{UNKNOWN}"), 404, "/problems/not-found")

    declined = api.create_payment("order-4/create", order("decline"), prefer="wait=20")
    assert declined.state == callers.PaymentState.FAILED and declined.reason is not None, declined
    assert declined.reason.code == "declined", declined
    page = api.list_payments(
        reference="order-3", state=callers.PaymentState.SUCCEEDED, created_after="2026-01-01T00:00:00Z"
    )
    assert page.data == [read] and page.next_cursor is None, page
    # The client reads no YAML and no metrics; it hands out the bytes.
    description = callers.DescriptionApi(client).get_description_without_preload_content()
    assert description.status == 200 and description.data.startswith(b"openapi:"), description
    return read


def operator(client: operators.ApiClient, payment: callers.Payment) -> None:
    assert operators.ProbesApi(client).get_readiness(verbose="true").status == operators.CheckStatus.PASS
    assert operators.ProbesApi(client).get_metrics_without_preload_content().data.endswith(b"# EOF\n")
    explanation = operators.PaymentsApi(client).explain_payment(payment.id)
    assert explanation.legs[0].standing == operators.LegStanding.TAKEN, explanation
    events = operators.PaymentsApi(client).list_payment_events(payment.id, limit=1)
    assert len(events.data) == 1 and events.next_cursor is not None, events

    now = datetime.datetime.now(datetime.timezone.utc)
    window = [now - datetime.timedelta(hours=hours) for hours in (5, 4)]
    asked = operators.StartReconciliation.from_dict(
        {"provider": "card", "from": window[0].isoformat(), "to": window[1].isoformat(), "dry_run": True}
    )
    assert asked is not None
    comparisons = operators.ComparisonsApi(client)
    run = comparisons.start_reconciliation(asked)
    assert comparisons.get_reconciliation(run.id).kind == operators.RunKind.ASKED, run
    assert comparisons.list_discrepancies(state=operators.DiscrepancyFilter.ALL).data == []
    proposal = operators.ProposeRepair(
        operators.ProposeLegRepair(
            payment_id=payment.id,
            leg=0,
            action=operators.RepairAction.RESUME,
            evidence=operators.RepairEvidence(text="Their mail of today."),
            version=explanation.version,
        )
    )
    try:
        operators.RepairsApi(client).propose_repair(proposal)
        raise AssertionError("a repair of what needs none was taken")
    except OperatorsError as error:
        assert isinstance(error.data, operators.Problem), error
        assert error.data.type.value == "/problems/state-conflict", error.data
    assert operators.SiteApi(client).get_site().role == operators.SiteRole.ACTIVE


def main() -> None:
    url = os.environ["PAYMENTS_URL"]
    stranger = callers.ApiClient(callers.Configuration(host=url, access_token="none-of-theirs"))
    problem(lambda: callers.PaymentsApi(stranger).list_payments(), 401, "/problems/unauthorized")
    caller = callers.Configuration(host=url, access_token=os.environ["CALLER_TOKEN"])
    payment = shop(callers.ApiClient(caller))
    admin = operators.Configuration(host=os.environ["OPERATIONS_URL"], access_token=os.environ["OPERATOR_TOKEN"])
    operator(operators.ApiClient(admin), payment)


if __name__ == "__main__":
    main()
