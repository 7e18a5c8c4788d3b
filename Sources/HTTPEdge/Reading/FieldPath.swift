internal import PaymentCore
package import StrictJSON

/// Where in a request something is, as problem documents name it: `legs[1].amount.value`.
///
/// It is shown to the caller and may be logged, so names that the caller made up are shown only if they are
/// short, plain and no card number.
package struct FieldPath: Sendable, Hashable {
    /// The text; empty for the whole document.
    package let text: String

    /// The whole document.
    package static let root = FieldPath(text: "")

    private init(text: String) {
        self.text = text
    }

    /// The place to which these steps lead from the whole document.
    package init(_ steps: [JSONStep]) {
        self = steps.reduce(.root) { path, step in
            switch step {
            case .member(let name): path.member(name)
            case .item(let index): path.item(index)
            }
        }
    }

    /// A member of the object at this place.
    package func member(_ name: String) -> FieldPath {
        let shown = FieldPath.isShown(name) ? name : "…"
        return FieldPath(text: text.isEmpty ? shown : "\(text).\(shown)")
    }

    /// An item of the array at this place.
    package func item(_ index: Int) -> FieldPath { FieldPath(text: "\(text)[\(index)]") }

    private static func isShown(_ name: String) -> Bool {
        let plain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"): true
            default: false
            }
        }
        return plain && (1...64).contains(name.utf8.count) && !CardNumber.appears(in: name)
    }
}
