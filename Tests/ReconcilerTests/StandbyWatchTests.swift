import PaymentCore
import Reconciler
import Testing

/// What a configuration that counts on a standby says of each kind of database.
@Suite struct StandbyWatchTests {
    private func database(_ replication: SiteReplication, isWritable: Bool = true) -> SiteDatabase {
        SiteDatabase(isWritable: isWritable, replication: replication)
    }

    @Test func `what confirms nothing is missing, and is told when it changes`() {
        let watch = StandbyWatch(.warn)
        #expect(watch.isMissing == nil)
        #expect(watch.note(database(.synchronous)) == nil && watch.isMissing == false)
        for replication in [SiteReplication.none, .asynchronous, .unknown] {
            #expect(watch.note(database(replication)) == true && watch.isMissing == true)
            #expect(watch.note(database(replication)) == nil)
            #expect(watch.note(database(.synchronous)) == false)
        }
        #expect(watch.note(database(.unknown, isWritable: false)) == nil && watch.isMissing == false)
    }

    @Test func `callers are refused only where that is asked for, and before anybody looked`() {
        let (warn, refuse) = (StandbyWatch(.warn), StandbyWatch(.refuse))
        #expect(warn.refusal == nil && refuse.refusal != nil)
        for watch in [warn, refuse] { watch.note(database(.none)) }
        #expect(warn.refusal == nil && refuse.refusal != nil)
        refuse.note(database(.synchronous))
        #expect(refuse.refusal == nil)
    }
}
