import Foundation

/// How a transaction stands in the ledger: the JSON of `TransactionRecord`, written and read by hand because every
/// request does both.
///
/// Its members are always written in the same order. What does not follow it, such as a state that an earlier version
/// wrote, is left to the decoder of the standard library.
enum TransactionState {
    static func write(_ record: TransactionRecord) -> String {
        var json = JSONText(capacity: 768)
        json.raw(#"{"key":"#)
        json.string(record.key)
        json.raw(#","status":"#)
        json.string(record.status.rawValue)
        json.raw(#","createdAt":"#)
        json.number(record.createdAt)
        json.raw(#","updatedAt":"#)
        json.number(record.updatedAt)
        if let kind = record.kind {
            json.raw(#","kind":"#)
            json.string(kind.rawValue)
        }
        if let amount = record.amount {
            json.raw(#","amount":"#)
            write(amount, &json)
        }
        if let until = record.authorizedUntil {
            json.raw(#","authorizedUntil":"#)
            json.number(until)
        }
        json.raw(#","metadata":"#)
        json.members(record.metadata)
        write(reason: record.reason, &json)
        if let fingerprint = record.fingerprint {
            json.raw(#","fingerprint":"#)
            json.string(fingerprint)
        }
        json.raw(#","behaviour":"#)
        json.string(record.behaviour.rawValue)
        json.raw(#","declineIsBound":"#)
        json.flag(record.declineIsBound)
        json.raw(#","unboundDeclines":"#)
        json.number(Int64(record.unboundDeclines))
        write(record.resolution, &json)
        json.raw(#","captures":"#)
        json.list(record.captures, write)
        json.raw(#","refunds":"#)
        json.list(record.refunds, write)
        if let disputes = record.disputes {
            json.raw(#","disputes":"#)
            json.list(disputes, write)
        }
        json.raw("}")
        return json.text
    }

    static func read(_ text: String) throws -> TransactionRecord {
        var text = text
        let record = text.withUTF8 { utf8 in
            var reader = StateReader(utf8)
            return reader.record()
        }
        return try record ?? JSONDecoder().decode(TransactionRecord.self, from: Data(text.utf8))
    }

    private static func write(_ entry: Entry, _ json: inout JSONText) {
        json.raw(#"{"key":"#)
        json.string(entry.key)
        json.raw(#","amount":"#)
        write(entry.amount, &json)
        json.raw(#","requested":"#)
        write(entry.requested, &json)
        json.raw(#","status":"#)
        json.string(entry.status.rawValue)
        json.raw(#","createdAt":"#)
        json.number(entry.createdAt)
        write(reason: entry.reason, &json)
        json.raw(#","declineIsBound":"#)
        json.flag(entry.declineIsBound)
        write(entry.resolution, &json)
        if let failedAt = entry.failedAt {
            json.raw(#","failedAt":"#)
            json.number(failedAt)
        }
        json.raw("}")
    }

    private static func write(_ dispute: DisputeRecord, _ json: inout JSONText) {
        json.raw(#"{"id":"#)
        json.string(dispute.id)
        json.raw(#","amount":"#)
        write(dispute.amount, &json)
        json.raw(#","status":"#)
        json.string(dispute.status.rawValue)
        json.raw(#","createdAt":"#)
        json.number(dispute.createdAt)
        json.raw("}")
    }

    private static func write(_ amount: Amount, _ json: inout JSONText) {
        json.raw(#"{"value":"#)
        json.number(amount.value)
        json.raw(#","currency":"#)
        json.string(amount.currency)
        json.raw("}")
    }

    private static func write(reason: String?, _ json: inout JSONText) {
        guard let reason else { return }
        json.raw(#","reason":"#)
        json.string(reason)
    }

    private static func write(_ resolution: Resolution?, _ json: inout JSONText) {
        guard let resolution else { return }
        json.raw(#","resolution":{"at":"#)
        json.number(resolution.at)
        json.raw(#","succeeds":"#)
        json.flag(resolution.succeeds)
        json.raw("}")
    }
}
