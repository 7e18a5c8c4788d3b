/// Why a server is not there as a test wants it.
public enum PostgresServerError: Error, CustomStringConvertible {
    /// Something that PostgreSQL's servers need is not installed: what, and how to install it.
    case notInstalled(String)
    /// A program could not be started, or ended with an error: its name, and its own words.
    case failed(program: String, words: String)
    /// A condition did not come true in time; the text says which.
    case timedOut(String)
    /// A server is not in the state that a step begins with; the text says in which it is.
    case wrongState(String)

    public var description: String {
        switch self {
        case .notInstalled(let missing): missing
        case .failed(let program, let words): "\(program) failed: \(words)"
        case .timedOut(let what): "waited too long until \(what)"
        case .wrongState(let state): state
        }
    }
}
