/// Why a text is no JSON document, or not one that is accepted.
package struct JSONFailure: Error, Sendable, Hashable {
    /// Constant text; never a part of the document.
    package let reason: String
    /// Where, in bytes from the beginning.
    package let offset: Int
    /// Which member, from the whole document inwards, where that is known; empty for the whole document.
    package private(set) var path: [JSONStep]

    /// A failure in the document itself, or in a member of it.
    init(_ reason: String, offset: Int, path: [JSONStep] = []) {
        self.reason = reason
        self.offset = offset
        self.path = path
    }

    /// The same failure as the value around it sees it.
    func within(_ step: JSONStep) -> JSONFailure {
        var outer = self
        outer.path.insert(step, at: 0)
        return outer
    }
}

extension JSONFailure: CustomStringConvertible {
    /// Without the path, whose names whoever wrote the document made up: this text may be logged.
    package var description: String { "\(reason), at byte \(offset)" }
}

/// One step from a value to a value within it.
package enum JSONStep: Sendable, Hashable {
    /// To the member of this name; a part of the document, to be looked at before it is shown to anybody.
    case member(String)
    /// To the item of this index.
    case item(Int)
}
