internal import Synchronization

/// A value that whoever holds it sees replaced, such as tokens that are read anew while requests are answered.
package final class Replaceable<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    /// Holds a value.
    package init(_ value: Value) { self.value = Mutex(value) }

    /// The value of now.
    package var current: Value { value.withLock { $0 } }

    /// Puts another in its place.
    package func replace(with other: Value) { value.withLock { $0 = other } }
}
