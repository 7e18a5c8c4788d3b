internal import PaymentCore

/// The invariants of the protocol, as far as one state shows them.
struct SearchJudge {
    let world: SearchWorld

    /// What is wrong with a state.
    func finding(_ state: GlobalState, _ traits: LocalTraits) -> SearchFinding? {
        for leg in world.legContracts.indices where state[leg: leg].chargedTwice {
            return SearchFinding(invariant: 2, words: "leg \(leg) is charged, or gives back, twice")
        }
        // What people said wrongly is nowhere but in our rows: once those are lost, the provider says something else.
        let isWordLost = state.losses > 0 && world.legContracts.indices.contains { state.isMisjudged($0) }
        if state.told & 3 == 3, !isWordLost {
            return SearchFinding(invariant: 4, words: "the caller was told both that it succeeded and that it did not")
        }
        if state.told & 1 == 1, let finding = succeeded(state) { return finding }
        if traits.isQuarantined, !world.scenario.quarantineExpected {
            return SearchFinding(invariant: 15, words: "quarantined, although a safe way is left")
        }
        if let finding = turnedBack(state, traits) { return finding }
        return atRest(state, traits)
    }

    private func succeeded(_ state: GlobalState) -> SearchFinding? {
        for leg in world.legContracts.indices where world.captured(leg) > 0 && !state.isMisjudged(leg) {
            let there = state[leg: leg]
            if there.status != .taken || there.compensation.isDone, !there.changedOutside {
                return SearchFinding(invariant: 8, words: "told succeeded, and leg \(leg) is \(there)")
            }
        }
        return nil
    }

    /// What its caller knows as held ends by its caller, by the end of its hold, or by what its provider says; what
    /// somebody captured at the provider's console is for people.
    private func turnedBack(_ state: GlobalState, _ traits: LocalTraits) -> SearchFinding? {
        if state.told & 4 != 0, state.losses == 0, traits.isTooLate {
            return SearchFinding(invariant: 15, words: "told authorized, and turned back by its deadline")
        }
        for leg in world.legContracts.indices {
            let there = state[leg: leg]
            guard there.status == .taken, there.changedOutside, there.compensation.isDone, !traits.cancelAsked else {
                continue
            }
            return SearchFinding(
                invariant: 15, words: "leg \(leg) was captured outside, and is given back without anybody's word")
        }
        return nil
    }

    /// Nothing is on its way, and nobody will look again.
    private func atRest(_ state: GlobalState, _ traits: LocalTraits) -> SearchFinding? {
        guard state.wire == 0, state.late == 0, state.oldSite == 0, traits.isFinal, !traits.isBusy,
            traits.due == .never
        else { return nil }
        for leg in world.legContracts.indices where !state.isMisjudged(leg) {
            let there = state[leg: leg]
            let mayBeLive = traits.told == 1 && world.captured(leg) > 0
            let isLive =
                there.status == .held || there.status == .pending || world.net(there, leg) > 0
                || there.standsBeneathTombstone
            if isLive, !mayBeLive {
                return SearchFinding(
                    invariant: 7, words: "told canceled or failed, and at rest leg \(leg) is \(there)")
            }
            // A refund whose row was lost is in the books again once its caller repeats it, which it may never do here.
            let mayLack = state.losses > 0 && !world.scenario.refunds.isEmpty
            guard let books = traits.books, !there.changedOutside, !mayLack else { continue }
            if books[leg] != world.net(there, leg) {
                return SearchFinding(
                    invariant: 1,
                    words: "the books say \(books[leg]) for leg \(leg), the provider has \(world.net(there, leg))")
            }
        }
        return nil
    }
}
