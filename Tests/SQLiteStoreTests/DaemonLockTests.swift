internal import Foundation
internal import Reconciler
internal import Testing

@testable import SQLiteStore

@Suite struct DaemonLockTests {
    /// A descriptor that is closed twice is another file's by then: SQLite lost its log's in the middle of a write.
    @Test func `a daemon that is refused closes nothing that others opened`() async throws {
        try await StoreDirectory.with { directory in
            let path = directory.path
            let held = try DaemonLock(of: path)
            let taken = await withTaskGroup(of: Int.self) { group in
                group.addTask {
                    for _ in 0..<20_000 {
                        #expect(throws: StoreFailure.self) { try DaemonLock(of: path) }
                    }
                    return 0
                }
                group.addTask { DaemonLockTests.lostDescriptors(of: 200_000) }
                return await group.reduce(0, +)
            }
            #expect(taken == 0)
            withExtendedLifetime(held) {}
        }
    }

    /// Opens files one after another, and counts those that somebody else closed.
    private static func lostDescriptors(of count: Int) -> Int {
        (0..<count).count { _ in
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            return descriptor >= 0 && close(descriptor) != 0
        }
    }
}
