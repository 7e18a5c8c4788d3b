internal import HTTPEdge
internal import PaymentCore
internal import Reconciler
internal import StrictJSON

/// Answers what operators ask of the site: the same decisions as those of the command line.
struct SiteRoutes: Sendable {
    private let desk: SiteDesk
    private let drainLimit: Span

    /// Answers from a desk.
    ///
    /// - Parameter drainLimit: how long a request waits for what is on the wire, at the most.
    init(desk: SiteDesk, drainLimit: Span = .seconds(10)) {
        self.desk = desk
        self.drainLimit = drainLimit
    }

    /// `GET /v1/site`
    func site(query: String?) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            return Answer(200, try await document())
        }
    }

    /// `GET /v1/site/obstacles`: what stands against a promotion that overrides nothing.
    func obstacles(query: String?, for person: String) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            let obstacles = try await tell { () async throws(SiteDeskFailure) in
                try await desk.obstacles(PromotionRequest(by: person, reason: "a look at the evidence"))
            }
            return Answer(200, .members(["obstacles": .array(obstacles.map(SiteRendering.obstacle))]))
        }
    }

    /// `POST /v1/site/promote`
    ///
    /// - Parameters:
    ///   - person: whose token the request came with.
    ///   - approver: whose token approved it.
    func promote(
        query: String?, body: [UInt8], by person: String, approver: String?
    ) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            let (request, wait, epoch) = try SiteBodies.promotion(body, by: person, approver: approver)
            let promoted = try await tell { () async throws(SiteDeskFailure) in
                try await desk.promote(request, wait: wait, expecting: epoch)
            }
            let reading = try await tell { () async throws(SiteDeskFailure) in try await desk.status() }
            return Answer(200, SiteRendering.promoted(desk.settings.site, promoted, reading))
        }
    }

    /// `POST /v1/site/drain`: 200 once it is drained, 202 while it goes on.
    func drain(query: String?) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            do throws(SiteDeskFailure) {
                _ = try await desk.drain(within: drainLimit)
            } catch .stillBusy {
                return Answer(202, try await document())
            } catch {
                throw Problem(error)
            }
            return Answer(200, try await document())
        }
    }

    /// `POST /v1/site/demote`
    func demote(query: String?) async -> OperatorAnswer {
        await change(query) { () async throws(SiteDeskFailure) in _ = try await desk.demote() }
    }

    /// `POST /v1/site/mode`
    func mode(query: String?, body: [UInt8]) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            let mode = try SiteBodies.mode(body)
            _ = try await tell { () async throws(SiteDeskFailure) in try await desk.set(mode) }
            return Answer(200, try await document())
        }
    }

    private func change(
        _ query: String?, _ body: () async throws(SiteDeskFailure) -> Void
    ) async -> OperatorAnswer {
        await OperatorAnswer.of { () async throws(Problem) in
            _ = try QueryParameters(query, allowed: [])
            try await tell(body)
            return Answer(200, try await document())
        }
    }

    private func document() async throws(Problem) -> JSONValue {
        let reading = try await tell { () async throws(SiteDeskFailure) in try await desk.status() }
        return SiteRendering.site(desk.settings.site, reading)
    }

    private func tell<Value: Sendable>(
        _ body: () async throws(SiteDeskFailure) -> Value
    ) async throws(Problem) -> Value {
        do {
            return try await body()
        } catch {
            throw Problem(error)
        }
    }
}

/// The bodies of what operators ask of the site.
enum SiteBodies {
    static func promotion(
        _ bytes: [UInt8], by person: String, approver: String?
    ) throws(Problem) -> (PromotionRequest, wait: Span, epoch: Int64?) {
        let fields = try ObjectFields(
            try ComparisonBodies.document(bytes), at: .root,
            allowed: [
                "expected_epoch", "reason", "fenced_by", "accept_data_loss", "accept_contracts", "restored_from_backup",
                "wait_seconds",
            ])
        let seconds = try number(fields, "wait_seconds", in: 0...60)
        let epoch = try number(fields, "expected_epoch", in: 0...Int64.max)
        let request = PromotionRequest(
            by: person, approvedBy: approver, reason: try words(try fields.required("reason"), "reason"),
            fencedBy: try optional(fields, "fenced_by"), acceptDataLoss: try optional(fields, "accept_data_loss"),
            acceptContracts: try optional(fields, "accept_contracts"),
            isRestored: try flag(fields, "restored_from_backup"))
        return (request, .seconds(seconds ?? 0), epoch)
    }

    static func mode(_ bytes: [UInt8]) throws(Problem) -> SiteMode {
        let fields = try ObjectFields(try ComparisonBodies.document(bytes), at: .root, allowed: ["mode"])
        let text = try words(try fields.required("mode"), "mode")
        guard let mode = SiteMode(rawValue: text) else {
            let allowed = SiteMode.allCases.map(\.rawValue).joined(separator: ", ")
            throw .malformed(FieldPath.root.member("mode"), "Must be one of \(allowed).")
        }
        return mode
    }

    private static func number(
        _ fields: ObjectFields, _ name: String, in range: ClosedRange<Int64>
    ) throws(Problem) -> Int64? {
        guard let value = fields[name] else { return nil }
        return try value.integer(at: FieldPath.root.member(name), in: range)
    }

    private static func optional(_ fields: ObjectFields, _ name: String) throws(Problem) -> String? {
        guard let value = fields[name], value != .null else { return nil }
        return try words(value, name)
    }

    private static func words(_ value: JSONValue, _ name: String) throws(Problem) -> String {
        try value.text(at: FieldPath.root.member(name), length: 1...SiteTerm.longestText)
    }

    private static func flag(_ fields: ObjectFields, _ name: String) throws(Problem) -> Bool {
        switch fields[name] {
        case nil: return false
        case .bool(let flag): return flag
        default: throw .malformed(FieldPath.root.member(name), "Must be true or false.")
        }
    }
}

extension Problem {
    /// The problem of something that was asked of the site and not done.
    init(_ failure: SiteDeskFailure) {
        switch failure {
        case .refused(let obstacles), .interrupted(let obstacles):
            self.init(.stateConflict, 409, "The site is not promoted")
            detail = obstacles.map { "\($0)." }.joined(separator: " ")
            isRetryable = obstacles.allSatisfy(\.passes)
            self.obstacles = .array(obstacles.map(SiteRendering.obstacle))
        case .notActive, .overtaken, .stillBusy, .noSuchRecovery, .noWitness, .witnessKnown, .witnessAhead:
            self.init(.stateConflict, 409, "The state does not permit this", detail: Problem.sentence(failure))
        case .malformed(let field):
            self = .malformed(
                FieldPath.root.member(field), "Must be 1 to \(SiteTerm.longestText) bytes.")
        case .store(let failure) where failure.code == .incompatible:
            self.init(.stateConflict, 409, "The state does not permit this", detail: "\(failure.cause).")
        case .store(let failure):
            self = Problem.unavailable(failure)
        }
    }

    private static func sentence(_ failure: SiteDeskFailure) -> String {
        let words = failure.description
        return words.prefix(1).uppercased() + words.dropFirst() + "."
    }
}
