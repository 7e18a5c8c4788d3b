/// What holds a secret. However it is printed, its text names the type and nothing else.
protocol Secretive: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Secretive {
    var description: String { "\(Self.self)(redacted)" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
