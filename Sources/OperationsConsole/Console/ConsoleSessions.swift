internal import HTTPEdge
internal import Synchronization

/// Who is signed in, kept by this process alone: whoever knows the token of a session is its person. Tokens are kept as
/// digests, so that nobody finds one in a copy of the memory.
final class ConsoleSessions: Sendable {
    /// How long a session lasts.
    struct Limits: Sendable, Hashable {
        /// Without a request.
        var idle: Duration = .seconds(1_800)
        /// At the most, from signing in.
        var longest: Duration = .seconds(28_800)
        /// Sessions at the same time. Beyond it, the one that was not used for the longest ends.
        var count = 256
        /// Sessions of one person at the same time, so that nobody ends those of others.
        var countOfPerson = 8

        /// The documented defaults.
        init() {}
    }

    /// A session as a page sees it.
    struct Session: Sendable {
        let person: Operator
        /// What each form of this session carries, so that no page of others can send one.
        let formToken: String
        fileprivate let digest: [UInt8]
    }

    private struct Entry {
        let credential: OperatorCredential
        let formToken: String
        let began: ContinuousClock.Instant
        var used: ContinuousClock.Instant
    }

    private let operators: OperatorDirectory
    private let limits: Limits
    private let entries = Mutex<[[UInt8]: Entry]>([:])

    init(_ operators: OperatorDirectory, limits: Limits = Limits()) {
        self.operators = operators
        self.limits = limits
    }

    /// Begins a session for the owner of an operator's token; `nil` if it belongs to nobody.
    func begin(token: String, now: ContinuousClock.Instant = .now) -> String? {
        guard let credential = operators.credential(token) else { return nil }
        let (session, formToken) = (ConsoleSessions.random(), ConsoleSessions.random())
        entries.withLock { entries in
            entries = entries.filter { !isOver($0.value, now) }
            let own = entries.filter { $0.value.credential == credential }
            if own.count >= limits.countOfPerson, let oldest = own.min(by: { $0.value.used < $1.value.used }) {
                entries[oldest.key] = nil
            }
            if entries.count >= limits.count, let oldest = entries.min(by: { $0.value.used < $1.value.used }) {
                entries[oldest.key] = nil
            }
            entries[ConsoleSessions.digest(session)] = Entry(
                credential: credential, formToken: formToken, began: now, used: now)
        }
        return session
    }

    /// The session of a token; `nil` if it is over, or its person's own token is not known any more.
    ///
    /// - Parameter isUse: whether a person asked, and not a page that looks at itself again.
    func session(_ token: String, isUse: Bool = true, now: ContinuousClock.Instant = .now) -> Session? {
        let digest = ConsoleSessions.digest(token)
        return entries.withLock { entries in
            guard var entry = entries[digest] else { return nil }
            guard !isOver(entry, now), let person = operators.person(entry.credential) else {
                entries[digest] = nil
                return nil
            }
            if isUse {
                entry.used = now
                entries[digest] = entry
            }
            return Session(person: person, formToken: entry.formToken, digest: digest)
        }
    }

    /// Ends a session.
    func end(_ session: Session) { entries.withLock { $0[session.digest] = nil } }

    private func isOver(_ entry: Entry, _ now: ContinuousClock.Instant) -> Bool {
        now - entry.used >= limits.idle || now - entry.began >= limits.longest
    }

    private static func digest(_ token: String) -> [UInt8] { TokenDirectory<Operator>.digest(token) }

    /// 256 bits of the system's randomness.
    private static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}

extension ConsoleSessions.Session {
    /// Whether a form was made for this session. Compared without a hint of how far it agrees.
    func made(_ token: String?) -> Bool {
        guard let token, token.utf8.count == formToken.utf8.count else { return false }
        return zip(token.utf8, formToken.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
