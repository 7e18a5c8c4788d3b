/// What a person may do in the operations API. Each role may do what those before it may.
public enum OperatorRole: String, Sendable, Hashable, Comparable, CaseIterable {
    /// Reads.
    case viewer
    /// Changes what moves no money by itself, proposes repairs, and changes the role of a site.
    case `operator`
    /// Decides about repairs that others proposed.
    case approver

    public static func < (left: OperatorRole, right: OperatorRole) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .viewer: 0
        case .operator: 1
        case .approver: 2
        }
    }
}

/// A person whom the configuration knows.
public struct Operator: Sendable, Hashable {
    /// The name, under which what the person does is written down.
    public let name: String
    /// What the person may do.
    public let role: OperatorRole

    /// A person.
    public init(_ name: String, _ role: OperatorRole) {
        self.name = name
        self.role = role
    }
}
