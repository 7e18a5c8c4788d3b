internal import MemoryStore
internal import Reconciler
internal import StoreContract
internal import Testing

@Suite struct MemorySiteContractTests {
    @Test(arguments: SiteContractCase.all)
    func `the store keeps the contract of sites`(_ sentence: SiteContractCase) async throws {
        try await sentence.check { clock, body in try await body(MemoryStore(clock: { clock.now() })) }
    }

    @Test(arguments: WitnessContractCase.all)
    func `the witness keeps the contract of witnesses`(_ sentence: WitnessContractCase) async throws {
        try await sentence.check { clock, body in
            try await body(MemorySubject(memory: MemoryWitness(clock: { clock.now() })))
        }
    }

    private struct MemorySubject: WitnessSubject {
        let memory: MemoryWitness
        var witness: any SiteWitness { memory }

        func wipe() async { await memory.wipe() }

        func copied() async -> @Sendable () async throws -> Void {
            let copy = await memory.copy()
            return { await memory.put(back: copy) }
        }

        func whileSilent(_ body: @Sendable () async throws -> Void) async throws {
            await memory.keepSilent(true)
            try await body()
            await memory.keepSilent(false)
        }

        func elsewhere() async -> any SiteWitness {
            let nowhere = MemoryWitness(clock: { ManualClock.start })
            await nowhere.keepSilent(true)
            return nowhere
        }
    }
}
