internal import HTTPEdge
internal import PaymentCore

extension ConsolePages {
    /// `GET /console/payments/{id}`: why it is in its state, its legs, its history, and what may be done.
    func payment(_ id: String, _ guest: ConsoleGuest) async throws(Problem) -> [String: Any] {
        let payment = try await questions.ask(.payment, id: id, guest)
        var model: [String: Any] = ["payment": payment, "id": id]
        let explanation = await questions.part(.explanation, id: id, guest)
        model["explanation"] = explanation
        model["is_unexplained"] = explanation == nil
        model["legs"] = ConsolePages.legs(payment, explanation)
        let refunds = ConsolePages.refunds(payment, explanation)
        model["refunds"] = refunds
        model["has_refunds"] = !refunds.isEmpty
        let metadata = payment["metadata"] as? [String: Any] ?? [:]
        // Not under its own name: a template finds that in the payment first.
        model["metadata_rows"] = metadata.sorted { $0.key < $1.key }.map { ["name": $0.key, "value": "\($0.value)"] }
        do throws(Problem) {
            let trail = try await questions.entries(
                .events, id: id, query: "limit=200", atLeast: 1_000, guest, ConsolePages.entry)
            model["trail"] = trail.entries
            model["is_trail_cut"] = trail.isCut
        } catch {
            model["is_trail_unread"] = true
        }
        let repairs = await questions.part(.repairs, query: "payment=\(id)&state=all&limit=200", guest)?["data"]
        model["repairs"] = repairs
        model["has_repairs"] = (repairs as? [Any])?.isEmpty == false
        if guest.person.role >= .operator, questions.has(.repairs), let explanation {
            model["forms"] = ConsolePages.forms(payment, explanation)
        }
        return model.merging(await webhook(id, guest)) { $1 }
    }

    /// How far its webhook got; nothing where nothing of it was ever reported.
    private func webhook(_ id: String, _ guest: ConsoleGuest) async -> [String: Any] {
        guard questions.has(.webhook) else { return [:] }
        do throws(Problem) {
            return ["webhook": ConsolePages.progress(try await questions.ask(.webhook, id: id, guest))]
        } catch {
            return ["is_webhook_unread": error.status != 404]
        }
    }

    /// What the newest report waits for, or came to.
    private static func progress(_ webhook: [String: Any]) -> [String: Any] {
        var shown: [String: Any] = [:]
        switch webhook["state"] as? String {
        case "delivered":
            shown["words"] = "delivered"
            shown["at"] = webhook["delivered_at"]
        case "waiting":
            shown["words"] = "waiting, next attempt"
            shown["at"] = webhook["due_at"]
            shown["failure"] = webhook["failure"]
        default:
            shown["words"] = "given up"
            shown["failure"] = webhook["failure"]
        }
        return shown
    }

    /// An entry of the trail: what it says first, and its other members in order of their names.
    private static func entry(_ entry: [String: Any]) -> [String: Any] {
        var shown = entry
        let detail = entry["detail"] as? [String: String] ?? [:]
        shown["kind"] = (entry["type"] as? String ?? "").replacing("_", with: " ")
        shown["facts"] = detail["facts"]
        shown["row"] = detail["row"]
        let others = detail.sorted { $0.key < $1.key }.filter { !["facts", "row", "because_facts"].contains($0.key) }
        shown["details"] = others.map { ["name": $0.key, "value": $0.value] }
        return shown
    }

    /// The legs, each with its part of the explanation.
    private static func legs(_ payment: [String: Any], _ explanation: [String: Any]?) -> [[String: Any]] {
        let explained = explanation?["legs"] as? [[String: Any]] ?? []
        return (payment["legs"] as? [[String: Any]] ?? []).map { leg in
            var shown = leg
            shown["explained"] = explained.first { $0["index"] as? String == leg["index"] as? String }
            return shown
        }
    }

    /// The refunds, each with what is not over of it.
    private static func refunds(_ payment: [String: Any], _ explanation: [String: Any]?) -> [[String: Any]] {
        let explained = explanation?["refunds"] as? [[String: Any]] ?? []
        return (payment["refunds"] as? [[String: Any]] ?? []).map { refund in
            var shown = refund
            shown["explained"] = explained.filter { $0["id"] as? String == refund["id"] as? String }
                .compactMap { $0["part"] as? [String: Any] }
            return shown
        }
    }

    /// A form for each part that waits for people, or for a provider with which nobody can act.
    private static func forms(_ payment: [String: Any], _ explanation: [String: Any]) -> [[String: Any]] {
        let version = explanation["version"] as? String ?? ""
        let currency = (payment["amount"] as? [String: Any])?["currency"] as? String ?? ""
        func what(_ part: [String: Any]) -> String {
            (part["waits_for"] as? [String: Any])?["what"] as? String ?? ""
        }
        func waits(_ part: [String: Any]) -> Bool { what(part) == "people" || lacksProvider(part) }
        func lacksProvider(_ part: [String: Any]) -> Bool { ["configuration", "key_space"].contains(what(part)) }
        func form(_ part: [String: Any], refund: String?) -> [String: Any] {
            var form: [String: Any] = [
                "leg": part["index"] as? String ?? "0", "provider": part["provider"] as? String ?? "",
                "version": version, "currency": currency, "lacks_provider": lacksProvider(part),
            ]
            form["refund"] = refund
            return form
        }
        let legs = (explanation["legs"] as? [[String: Any]] ?? []).filter(waits).map { form($0, refund: nil) }
        let refunds = (explanation["refunds"] as? [[String: Any]] ?? []).compactMap { refund -> [String: Any]? in
            guard let part = refund["part"] as? [String: Any], waits(part) else { return nil }
            return form(part, refund: refund["id"] as? String)
        }
        return legs + refunds
    }
}
