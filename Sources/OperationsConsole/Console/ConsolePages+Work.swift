internal import HTTPEdge
internal import PaymentCore

/// What waits for people: differences, and proposals.
extension ConsolePages {
    /// A page of a list, and where the next one is.
    private func list(
        _ route: AdminRoute, _ search: ConsoleSearch, as name: String, at path: String, _ guest: ConsoleGuest
    ) async throws(Problem) -> [String: Any] {
        var model: [String: Any] = ["written": search.written, "is_searched": !search.written.isEmpty]
        let query = search.text(and: [("cursor", search.written["cursor"])])
        let answer = await questions.answer(route, query: query, guest)
        let page = ViewModel.members(answer.body)
        guard answer.status < 400 else {
            guard answer.status == 400 else { throw Problem(told: answer) }
            model["problem"] = page
            return model
        }
        model[name] = page["data"]
        if let cursor = page["next_cursor"] as? String {
            model["more"] = "\(path)?\(search.text(and: [("cursor", cursor)]))"
        }
        return model
    }

    /// `GET /console/queue`: payments and differences that people decide about.
    func queue(_ guest: ConsoleGuest) async throws(Problem) -> [String: Any] {
        let search = try ConsoleSearch(guest.visit.query, ["class", "provider", "state", "assignee"])
        var model: [String: Any] = [:]
        if questions.has(.discrepancies) {
            model = try await list(.discrepancies, search, as: "discrepancies", at: "/console/queue", guest)
            model["is_compared"] = true
        }
        let waiting = try await questions.ask(.payments, query: "waiting_for=people&limit=200", guest)
        model["payments"] = waiting["data"]
        model["is_cut"] = waiting["next_cursor"] != nil
        return model
    }

    /// `GET /console/discrepancies/{id}`
    func discrepancy(_ id: String, _ guest: ConsoleGuest) async throws(Problem) -> [String: Any] {
        guard questions.has(.discrepancy) else { throw .notFound }
        let found = try await questions.ask(.discrepancy, id: id, guest)
        let repairs = await questions.part(.repairs, query: "discrepancy=\(id)&state=all&limit=200", guest)?["data"]
        var model: [String: Any] = [
            "found": found, "is_open": found["state"] as? String != "closed", "evidence_text": evidence(of: found),
            "has_repairs": (repairs as? [Any])?.isEmpty == false,
            "may_propose": guest.person.role >= .operator && questions.has(.repairs),
        ]
        model["repairs"] = repairs
        return model
    }

    /// Both sides as they stand in the document, for whoever wants all of it.
    private func evidence(of found: [String: Any]) -> [[String: Any]] {
        let evidence = found["evidence"] as? [String: Any] ?? [:]
        return ["ours", "theirs", "named", "balance"].compactMap { side in
            guard let known = evidence[side] as? [String: Any] else { return nil }
            return ["side": side, "members": ConsolePages.flat(known)]
        }
    }

    /// The members of a document, one below the other: `refunds.0.state`.
    static func flat(_ members: [String: Any], below path: String = "") -> [[String: Any]] {
        members.sorted { $0.key < $1.key }.flatMap { name, value -> [[String: Any]] in
            let path = path.isEmpty ? name : "\(path).\(name)"
            switch value {
            case let inner as [String: Any]:
                if let text = inner["text"] as? String, inner["currency"] != nil {
                    return [["name": path, "value": text]]
                }
                return flat(inner, below: path)
            case let items as [Any]:
                return items.enumerated().flatMap { index, item -> [[String: Any]] in
                    flat([String(index): item], below: path)
                }
            case let flag as Bool: return [["name": path, "value": flag ? "yes" : "no"]]
            default: return [["name": path, "value": "\(value)"]]
            }
        }
    }

    /// `GET /console/repairs`
    func repairs(_ guest: ConsoleGuest) async throws(Problem) -> [String: Any] {
        let search = try ConsoleSearch(guest.visit.query, ["state"])
        var model = try await list(.repairs, search, as: "repairs", at: "/console/repairs", guest)
        let chosen = search.written["state"] ?? "proposed"
        model["choices"] = [("proposed", "waiting"), ("decided", "decided"), ("all", "all")].map {
            ["href": "/console/repairs?state=\($0.0)", "text": $0.1, "is_chosen": $0.0 == chosen] as [String: Any]
        }
        return model
    }

    /// `GET /console/repairs/{id}`: a proposal, what it is about, and what this person may do with it.
    func repair(_ id: String, _ guest: ConsoleGuest) async throws(Problem) -> [String: Any] {
        let repair = try await questions.ask(.repair, id: id, guest)
        var model: [String: Any] = ["repair": repair, "id": id]
        if let payment = repair["payment_id"] as? String {
            model["payment"] = await questions.part(.payment, id: payment, guest)
            model["explanation"] = await questions.part(.explanation, id: payment, guest)
        }
        if let discrepancy = repair["discrepancy_id"] as? String {
            model["found"] = await questions.part(.discrepancy, id: discrepancy, guest)
        }
        let isWaiting = repair["state"] as? String == "proposed"
        let isOwn = repair["proposed_by"] as? String == guest.person.name
        model["may_approve"] = isWaiting && !isOwn && guest.person.role >= .approver
        model["may_reject"] = isWaiting && (isOwn || guest.person.role >= .approver)
        model["is_own"] = isWaiting && isOwn
        model["needs_approver"] = isWaiting && !isOwn && guest.person.role < .approver
        return model
    }
}
