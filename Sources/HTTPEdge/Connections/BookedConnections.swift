internal import Hummingbird
internal import HummingbirdCore

/// What a listener asks before it accepts a connection, answered from its book.
struct BookedConnections: AvailableConnectionsDelegate {
    let book: ConnectionBook

    func connectionOpened() { book.opened() }
    func connectionClosed() { book.closed() }
    func isAcceptingNewConnections() -> Bool { book.mayAccept() }
}
