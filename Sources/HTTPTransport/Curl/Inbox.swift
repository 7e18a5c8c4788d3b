import CLibCurl

/// What tasks tell the loop, and how they wake it.
///
/// The only thing that both sides touch.
final class Inbox: Sendable {
    /// An order to the loop.
    enum Command: Sendable {
        case start(Exchange)
        case cancel(UInt64)
    }

    /// When the loop shall end.
    enum Ending: Sendable, Equatable {
        case no
        /// What is in progress may finish until then.
        case by(ContinuousClock.Instant)
    }

    /// What became of a submitted exchange.
    enum Submission: Sendable {
        case queued
        case cancelledBefore
        case closed
    }

    /// `@unchecked Sendable`: used only for `curl_multi_wakeup`, which libcurl allows from any thread, under
    /// the inbox's lock, and taken away under that lock before the handle is freed.
    fileprivate struct Wake: @unchecked Sendable {
        let multi: UnsafeMutableRawPointer
    }

    fileprivate struct State: Sendable {
        var commands: [Command] = []
        var nextID: UInt64 = 1
        /// Requests that have a number but were not submitted yet; `true` once they were cancelled.
        var reserved: [UInt64: Bool] = [:]
        var ending = Ending.no
        var wake: Wake?
        var ended = false
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())

    /// A number for a request that is about to be submitted; from now on it can be cancelled.
    func reserve() -> UInt64 {
        state.withLock { state in
            defer { state.nextID += 1 }
            state.reserved[state.nextID] = false
            return state.nextID
        }
    }

    /// Hands an exchange to the loop, unless its cancellation came first or the loop is ending.
    func submit(_ exchange: Exchange) -> Submission {
        state.withLock { state in
            if state.reserved.removeValue(forKey: exchange.id) == true { return .cancelledBefore }
            guard state.ending == .no else { return .closed }
            state.enqueue(.start(exchange))
            return .queued
        }
    }

    /// Cancels a request.
    ///
    /// One not yet submitted is remembered; one that is finished is not found by the loop.
    func cancel(_ id: UInt64) {
        state.withLock { state in
            if state.reserved[id] != nil {
                state.reserved[id] = true
            } else if !state.ended {
                state.enqueue(.cancel(id))
            }
        }
    }

    /// Refuses new requests and makes the loop end.
    ///
    /// An earlier end wins over a later one.
    func end(by instant: ContinuousClock.Instant) {
        state.withLock { state in
            if case .by(let earlier) = state.ending, earlier <= instant { return }
            state.ending = .by(instant)
            state.signal()
        }
    }

    /// Returns when the loop has let go of everything.
    func waitUntilEnded() async {
        await withCheckedContinuation { continuation in
            let already = state.withLock { state in
                if !state.ended { state.waitingForEnd.append(continuation) }
                return state.ended
            }
            if already { continuation.resume() }
        }
    }

    // MARK: The loop's side

    /// The loop is ready to be woken through this handle.
    func open(_ multi: UnsafeMutableRawPointer) {
        state.withLock { $0.wake = Wake(multi: multi) }
    }

    /// Everything ordered since the last time, in order, and whether to end.
    func drain() -> (commands: [Command], ending: Ending) {
        state.withLock { state in
            defer { state.commands.removeAll(keepingCapacity: true) }
            return (state.commands, state.ending)
        }
    }

    /// The handle is about to be freed.
    func close() {
        state.withLock { $0.wake = nil }
    }

    /// The loop's last act.
    func ended() {
        let waiting = state.withLock { state in
            state.ended = true
            defer { state.waitingForEnd = [] }
            return state.waitingForEnd
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension Inbox.State {
    fileprivate mutating func enqueue(_ command: Inbox.Command) {
        commands.append(command)
        if commands.count == 1 { signal() }
    }

    fileprivate func signal() {
        // Failure would mean a full wake-up pipe: the loop is awake already.
        if let wake { _ = curl_multi_wakeup(wake.multi) }
    }
}
