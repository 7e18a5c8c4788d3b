internal import HTTPEdge
internal import PaymentCore

/// The console's pages, made of answers of the operations API.
struct ConsolePages: Sendable {
    let questions: ConsoleQuestions
    let history: ConsoleHistory
    let drills: DrillReports
    private let templates = ConsoleTemplates()

    init(questions: ConsoleQuestions, content: ConsoleContent) {
        self.questions = questions
        history = content.history
        drills = content.drills
    }

    /// The page of a route.
    func answer(_ route: ConsoleRoute, _ id: String, _ guest: ConsoleGuest) async throws(Problem) -> ConsoleAnswer {
        if route == .paymentsTable { return try await table(guest) }
        if route == .payments, let payment = try PaymentSearch(guest.visit.query).payment {
            return .see("/console/payments/\(payment.text)")
        }
        let (template, model) = try await content(route, id, guest)
        return ConsoleAnswer(page: await page(template, model, guest), status: 200)
    }

    /// The page from which a form came, with what was written in it, and what was wrong.
    func again(
        _ route: ConsoleRoute, _ id: String, _ fields: FormFields, _ answer: OperatorAnswer, _ guest: ConsoleGuest
    ) async throws(Problem) -> ConsoleAnswer {
        let origin: ConsoleRoute =
            switch route {
            case .proposal: .payment
            case .approval, .rejection: .repair
            default: .discrepancy
            }
        guard answer.status != 404 else { throw Problem(told: answer) }
        var (template, model) = try await content(origin, id, guest)
        model["problem"] = ViewModel.members(answer.body)
        var written = fields.written
        if let action = fields["action"] { written["action_\(action)"] = true }
        model["written"] = written
        // The form that was sent, of several on one page.
        if let forms = model["forms"] as? [[String: Any]] {
            model["forms"] = forms.map { form in
                let isSame =
                    form["leg"] as? String == fields["leg"] && form["refund"] as? String == fields["refund"]
                return isSame ? form.merging(["written": written]) { $1 } : form
            }
        }
        return ConsoleAnswer(page: await page(template, model, guest), status: answer.status)
    }

    private func content(
        _ route: ConsoleRoute, _ id: String, _ guest: ConsoleGuest
    ) async throws(Problem) -> (template: String, model: [String: Any]) {
        switch route {
        case .now: ("now", try await now(guest))
        case .payments: ("payments", try await payments(guest))
        case .payment: ("payment", try await payment(id, guest))
        case .queue: ("queue", try await queue(guest))
        case .discrepancy: ("discrepancy", try await discrepancy(id, guest))
        case .repairs: ("repairs", try await repairs(guest))
        case .repair: ("repair", try await repair(id, guest))
        case .comparisons: ("comparisons", try await comparisons(guest))
        case .comparison: ("comparison", try await comparison(id, guest))
        case .drills: ("drills", drills.model)
        case .site: ("site", try await site(guest))
        default: throw .notFound
        }
    }

    /// A page in its frame: the menu, who looks, and which site it is.
    private func page(_ template: String, _ model: [String: Any], _ guest: ConsoleGuest) async -> [UInt8] {
        var frame = ConsolePages.frame(guest.visit)
        frame["person"] = guest.person.name
        frame["role"] = guest.person.role.rawValue
        frame["form_token"] = guest.formToken
        frame["may_change"] = guest.person.role >= .operator
        frame["may_decide"] = guest.person.role >= .approver
        frame["here"] = await questions.part(.site, guest)
        return templates.render(template, frame.merging(model) { $1 })
    }

    private static func frame(_ visit: Visit) -> [String: Any] {
        let section = visit.found?.route.section
        let menu = ConsoleRoute.menu.map { entry -> [String: Any] in
            [
                "href": entry.route == .now ? "/console/" : entry.route.rawValue, "name": entry.name,
                "is_current": entry.route == section,
            ]
        }
        return ["menu": menu]
    }
}

extension ConsolePages {
    /// The page of a problem.
    func failure(_ problem: Problem, _ visit: Visit) -> [UInt8] {
        var model = ConsolePages.frame(visit)
        model["problem"] = ViewModel.members(problem.json)
        return templates.render("failure", model)
    }

    /// The page that asks for an operator's token.
    func signIn(_ visit: Visit, next: String, isRefused: Bool = false) -> [UInt8] {
        templates.render("signin", ["next": next, "is_refused": isRefused])
    }

    /// The page that asks for itself once more, from here.
    func entry(_ visit: Visit) -> [UInt8] { templates.render("entry", ["next": visit.next]) }
}
