internal import HTTPEdge
internal import PaymentCore
internal import Reconciler

extension Problem {
    /// The problem of something that was asked of comparisons and not done.
    init(_ failure: ComparisonDeskFailure) {
        switch failure {
        case .notFound: self = .notFound
        case .unknownProvider: self = Problem.impossible("provider", failure)
        case .emptyWindow: self = Problem.impossible("to", failure)
        case .notComparable(.noListing): self = Problem.impossible("provider", failure)
        case .notComparable(.tooYoung): self = Problem.impossible("to", failure)
        case .notComparable(.tooOld): self = Problem.impossible("from", failure)
        case .unknownPerson: self = Problem.impossible("assignee", failure)
        case .switchedOff, .tooManyAttempts:
            self.init(.stateConflict, 409, "The state does not permit this", detail: Problem.sentence(failure))
        case .outdated(let current):
            self.init(.versionConflict, 409, "Somebody else was first", detail: Problem.sentence(failure))
            field = "version"
            self.current = DiscrepancyRendering.document(current)
        case .refused(.text(let name, let allowed), _):
            self = .malformed(FieldPath.root.member(name == "comment" ? "text" : name), "Must be \(allowed).")
        case .refused(_, let current):
            self.init(.stateConflict, 409, "The state does not permit this", detail: Problem.sentence(failure))
            self.current = DiscrepancyRendering.document(current)
        case .store(let failure): self = Problem.unavailable(failure)
        }
    }

    private static func impossible(_ field: String, _ failure: ComparisonDeskFailure) -> Problem {
        .impossible(FieldPath.root.member(field), sentence(failure))
    }

    private static func sentence(_ failure: ComparisonDeskFailure) -> String {
        let words = failure.description
        return words.prefix(1).uppercased() + words.dropFirst() + "."
    }

    /// Nothing is said of the store but whether to come again: its words may name hosts.
    static func unavailable(_ failure: StoreFailure) -> Problem {
        if failure.code == .indeterminate {
            return .internalError("It is not known whether the change was recorded. Read it again.")
        }
        guard failure.isPassing else { return .internalError() }
        var problem = Problem.notAccepting("The store is not available.", retryAfter: 1)
        problem.title = "Not available"
        return problem
    }
}
