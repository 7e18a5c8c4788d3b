internal import HTTPEdge
internal import PaymentCore
internal import Reconciler
internal import StrictJSON

/// The query of the listing of webhooks, and places in it as operators hold them.
enum WebhookQueries {
    static func list(_ text: String?) throws(Problem) -> WebhookQuery {
        let parameters = try QueryParameters(text, allowed: ["caller", "state", "cursor", "limit"])
        var query = WebhookQuery(limit: try parameters.limit())
        if let name = parameters["caller"] {
            do {
                query.caller = try CallerID(name)
            } catch {
                throw .malformed(field: "caller", "Must be \(error.allowed).")
            }
        }
        if let state = parameters["state"] {
            query.state = Webhook.State(rawValue: state)
            guard query.state != nil else {
                let allowed = Webhook.State.allCases.map(\.rawValue).joined(separator: ", ")
                throw .malformed(field: "state", "Must be one of \(allowed).")
            }
        }
        if let cursor = parameters["cursor"] {
            query.after = place(cursor, query)
            guard query.after != nil else { throw .badCursor }
        }
        return query
    }

    static func text(of place: WebhookCursor, _ query: WebhookQuery) -> String {
        cursor(query).text([String(place.raisedAt.milliseconds), place.payment.text])
    }

    private static func place(_ text: String, _ query: WebhookQuery) -> WebhookCursor? {
        guard let fields = cursor(query).fields(text, count: 2), let moment = Int64(fields[0]),
            let payment = PaymentID(text: fields[1])
        else { return nil }
        return WebhookCursor(raisedAt: Timestamp(milliseconds: moment), payment: payment)
    }

    private static func cursor(_ query: WebhookQuery) -> OpaqueCursor {
        OpaqueCursor(of: "webhooks", filters: [query.caller?.name, query.state?.rawValue])
    }
}

/// The bodies of what operators ask of webhooks.
enum WebhookBodies {
    /// The body of `POST /v1/webhooks/redeliver`.
    static func caller(_ bytes: [UInt8]) throws(Problem) -> CallerID {
        let fields = try ObjectFields(try ComparisonBodies.document(bytes), at: .root, allowed: ["caller"])
        let field = FieldPath.root.member("caller")
        let name = try fields.required("caller").text(at: field, length: 1...64)
        do {
            return try CallerID(name)
        } catch {
            throw .malformed(field, "Must be \(error.allowed).")
        }
    }
}
