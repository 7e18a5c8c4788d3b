import Hummingbird
import NIOCore

/// The connection on which a request came: to close it without an answer, and to see who is at its other end.
struct ConnectionContext: InitializableFromSource {
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }

    /// Closes it now.
    ///
    /// What the server writes afterwards goes nowhere: the caller sees the connection end.
    func close() async {
        channel.close(mode: .all, promise: nil)
    }

    /// Whether the other end is on this machine.
    var isLoopback: Bool {
        switch channel.remoteAddress {
        case .v4, .v6: ["127.0.0.1", "::1", "::ffff:127.0.0.1"].contains(channel.remoteAddress?.ipAddress)
        case .unixDomainSocket: true
        case nil: false
        }
    }
}
