/// Transactions on the wire, as the contract shows them: members in the order of their names; one without a value is
/// null, never absent.
struct TransactionView {
    /// The fault `missing_status`: leaves `status` out.
    var omitsStatus = false

    func write(_ record: TransactionRecord, to json: inout JSONText) {
        // The only member that is absent at most times: it tells that the payer has to act.
        if record.awaitsPayer {
            json.raw(#"{"action":{"type":"redirect","url":"#)
            json.string(record.payerURL)
            json.raw(#"},"amount":"#)
        } else {
            json.raw(#"{"amount":"#)
        }
        amount(record.amount, &json)
        json.raw(#","authorized_until":"#)
        json.instant(record.authorizedUntil)
        json.raw(#","captures":"#)
        json.list(record.captures, entry)
        json.raw(#","created_at":"#)
        json.instant(record.createdAt)
        json.raw(#","disputes":"#)
        json.list(record.disputes ?? [], dispute)
        json.raw(#","key":"#)
        json.string(record.key)
        json.raw(#","kind":"#)
        json.string(record.kind?.rawValue)
        json.raw(#","metadata":"#)
        json.members(record.metadata)
        json.raw(#","reason":"#)
        json.string(record.reason)
        json.raw(#","refunds":"#)
        json.list(record.refunds, entry)
        if !omitsStatus {
            json.raw(#","status":"#)
            json.string(record.status.rawValue)
        }
        json.raw(#","updated_at":"#)
        json.instant(record.updatedAt)
        json.raw("}")
    }

    func write(page: [TransactionRecord], nextCursor: String?, to json: inout JSONText) {
        json.raw(#"{"data":"#)
        json.list(page, write)
        json.raw(#","next_cursor":"#)
        json.string(nextCursor)
        json.raw("}")
    }

    private func entry(_ entry: Entry, _ json: inout JSONText) {
        json.raw(#"{"amount":"#)
        amount(entry.amount, &json)
        json.raw(#","created_at":"#)
        json.instant(entry.createdAt)
        json.raw(#","key":"#)
        json.string(entry.key)
        json.raw(#","reason":"#)
        json.string(entry.reason)
        json.raw(#","status":"#)
        json.string(entry.status.rawValue)
        json.raw("}")
    }

    private func dispute(_ dispute: DisputeRecord, _ json: inout JSONText) {
        json.raw(#"{"amount":"#)
        amount(dispute.amount, &json)
        json.raw(#","created_at":"#)
        json.instant(dispute.createdAt)
        json.raw(#","id":"#)
        json.string(dispute.id)
        json.raw(#","status":"#)
        json.string(dispute.status.rawValue)
        json.raw("}")
    }

    private func amount(_ amount: Amount?, _ json: inout JSONText) {
        guard let amount else { return json.raw("null") }
        json.raw(#"{"currency":"#)
        json.string(amount.currency)
        json.raw(#","value":"#)
        json.number(amount.value)
        json.raw("}")
    }
}
