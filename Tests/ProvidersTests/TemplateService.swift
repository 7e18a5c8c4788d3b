/// The service that the template is for, played by a test.
struct TemplateService: FakeService {
    fileprivate struct Refund: Sendable {
        let reference: String
        let amount: Int64
        var status = "DONE"
        var reason: String?
    }

    fileprivate struct Debit: Sendable {
        let account: String
        /// What was asked for. The books may say something else.
        let asked: Int64
        let note: String
        var amount: Int64
        var status: String
        var reason: String?
        var refunds: [Refund] = []
        /// So many requests about it are still answered as undecided.
        var undecidedFor = 0

        var refunded: Int64 { refunds.filter { $0.status == "DONE" }.reduce(0) { $0 + $1.amount } }
    }

    private var debits: [String: Debit] = [:]
    private var stale = StaleReads<Debit>()

    func operation(of request: FakeRequest) -> SuiteOperation? {
        switch (request.method, request.path.first, request.path.last) {
        case ("POST", "accounts", "debits"): .authorize
        case ("POST", "debits", "reversal"): .void
        case ("POST", "debits", "refunds"): .refund
        case ("GET", "debits", _): .inquire
        default: nil
        }
    }

    mutating func answer(_ request: FakeRequest, suffering fault: SuiteFault?) -> FakeReply {
        guard request.authorization == "Bearer good-token" else { return Self.error(401, "UNAUTHORIZED") }
        let json = request.json
        let path = request.path
        switch operation(of: request) {
        case .authorize where path.count == 3: return take(path[1], json, fault)
        case .inquire where path.count == 2: return show(path[1], fault)
        case .void where path.count == 3: return change(path[1], fault) { $0.reverse() }
        case .refund where path.count == 3:
            guard let reference = json["reference"] as? String, let amount = json["amount"] as? Int64, amount > 0
            else { return Self.error(400, "INVALID_REQUEST") }
            return change(path[1], fault) { $0.refund(reference, amount) }
        default: return FakeReply(404, contentType: "text/plain", "no such page")
        }
    }

    func words(for status: Int) -> FakeReply {
        Self.error(status, status == 429 ? "RATE_LIMITED" : status == 503 ? "MAINTENANCE" : "INTERNAL")
    }

    func books(of key: String) -> SuiteBooks {
        guard let debit = debits[key], debit.status == "TAKEN" || debit.status == "REVERSED" else {
            return SuiteBooks()
        }
        return SuiteBooks(charges: 1, net: debit.status == "TAKEN" ? debit.amount - debit.refunded : 0)
    }

    func instrument(_ behaviour: SuiteInstrument) -> String {
        switch behaviour {
        case .declined: "empty-account"
        case .unknown: "unknown-account"
        case .refundDeclined: "closed-account"
        case .captureDeclined: "nothing-is-captured"
        }
    }

    // MARK: What it does

    private mutating func take(_ account: String, _ json: [String: Any], _ fault: SuiteFault?) -> FakeReply {
        guard let reference = json["reference"] as? String, let amount = json["amount"] as? Int64, amount > 0,
            json["unit"] as? String == "JPY", let note = json["note"] as? String
        else { return Self.error(400, "INVALID_REQUEST") }
        guard account != instrument(.unknown) else { return Self.error(404, "ACCOUNT_NOT_FOUND") }
        if let known = debits[reference] {
            guard known.account == account, known.asked == amount, known.note == note else {
                return Self.error(409, "REFERENCE_IN_USE")
            }
            return known.status == "DECLINED" ? Self.error(422, "INSUFFICIENT_BALANCE") : Self.shown(reference, known)
        }
        var debit = Debit(
            account: account, asked: amount, note: note, amount: fault == .otherAmount ? amount + 1 : amount,
            status: "TAKEN")
        if fault == .pending { (debit.status, debit.undecidedFor) = ("PENDING", 3) }
        let isDeclined = account == instrument(.declined)
        if isDeclined { (debit.status, debit.reason) = ("DECLINED", "INSUFFICIENT_BALANCE") }
        if fault == .staleReads { stale.begin(reference, nil) }
        debits[reference] = debit
        return isDeclined
            ? Self.error(422, "INSUFFICIENT_BALANCE")
            : Self.shown(reference, debit, isWhole: fault != .statusMissing, status: 201)
    }

    private mutating func show(_ reference: String, _ fault: SuiteFault?) -> FakeReply {
        decideLater(reference)
        guard let debit = stale.read(reference, debits[reference]) else { return Self.error(404, "DEBIT_NOT_FOUND") }
        return Self.shown(reference, debit, isWhole: fault != .statusMissing)
    }

    private mutating func change(
        _ reference: String, _ fault: SuiteFault?, _ body: (inout Debit) -> (Int, String)?
    ) -> FakeReply {
        decideLater(reference)
        guard var debit = debits[reference] else { return Self.error(404, "DEBIT_NOT_FOUND") }
        guard debit.status != "PENDING" else { return Self.error(409, "NOT_DECIDED") }
        if fault == .staleReads { stale.begin(reference, debit) }
        let refused = body(&debit)
        debits[reference] = debit
        if let (status, code) = refused { return Self.error(status, code) }
        return Self.shown(reference, debit, isWhole: fault != .statusMissing)
    }

    private mutating func decideLater(_ reference: String) {
        guard var debit = debits[reference], debit.status == "PENDING" else { return }
        debit.undecidedFor -= 1
        if debit.undecidedFor < 0 { debit.status = "TAKEN" }
        debits[reference] = debit
    }

    // MARK: What it says

    private static func error(_ status: Int, _ code: String) -> FakeReply { FakeReply(status, ["error": code]) }

    private static func shown(
        _ reference: String, _ debit: Debit, isWhole: Bool = true, status: Int = 200
    ) -> FakeReply {
        let refunds = debit.refunds.map { refund -> [String: Any] in
            var shown: [String: Any] = [
                "reference": refund.reference, "amount": refund.amount, "status": refund.status,
            ]
            shown["reason"] = refund.reason
            return shown
        }
        var shown: [String: Any] = [
            "reference": reference, "account": debit.account, "amount": debit.amount, "unit": "JPY",
            "note": debit.note, "refunds": refunds,
        ]
        if isWhole { shown["status"] = debit.status }
        shown["reason"] = debit.reason
        return FakeReply(status, shown)
    }
}

extension TemplateService.Debit {
    /// Gives all of it back, once. An error where it cannot.
    fileprivate mutating func reverse() -> (Int, String)? {
        switch status {
        case "REVERSED": return nil
        case "TAKEN" where refunds.contains { $0.status == "DONE" }: return (409, "REFUNDED")
        case "TAKEN":
            status = "REVERSED"
            return nil
        default: return (409, status)
        }
    }

    /// Gives a part of it back, once for each reference. An error where it cannot.
    fileprivate mutating func refund(_ reference: String, _ amount: Int64) -> (Int, String)? {
        if let known = refunds.first(where: { $0.reference == reference }) {
            guard known.amount == amount else { return (409, "REFERENCE_IN_USE") }
            return known.status == "DECLINED" ? (422, "REFUND_DECLINED") : nil
        }
        guard status == "TAKEN" else { return (409, status) }
        guard amount <= self.amount - refunded else { return (422, "AMOUNT_TOO_LARGE") }
        guard account != "closed-account" else {
            refunds.append(.init(reference: reference, amount: amount, status: "DECLINED", reason: "REFUND_DECLINED"))
            return (422, "REFUND_DECLINED")
        }
        refunds.append(.init(reference: reference, amount: amount))
        return nil
    }
}
