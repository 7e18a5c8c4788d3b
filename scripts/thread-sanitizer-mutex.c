// Thread Sanitizer sees how a free Synchronization.Mutex is taken and given back, because that is inlined into the
// program. It does not see what happens where another thread waits: that is in the library, which is not built for it.
// So it reports races under a lock that do not exist. This library stands before the three functions, and says that the
// lock was taken or given back. `scripts/test-thread-sanitizer` builds it, and preloads it into the tests.
//
// The functions: stdlib/public/Synchronization/Mutex/LinuxImpl.swift of Swift 6.3.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

// Programs that are started beside the tests have no sanitizer.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

SWIFT void lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool try_lock(SELF) __asm__(TRY_LOCK);
SWIFT void unlock(SELF) __asm__(UNLOCK);

static void *behind(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "scripts/thread-sanitizer-mutex.c: this version of Swift has no %s\n", name);
        abort();
    }
    return function;
}

SWIFT void lock(uint32_t thread, SELF) {
    ((SWIFT void (*)(uint32_t, SELF))behind(LOCK))(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT bool try_lock(SELF) {
    bool taken = ((SWIFT bool (*)(SELF))behind(TRY_LOCK))(self);
    if (taken && __tsan_acquire) __tsan_acquire(self);
    return taken;
}

SWIFT void unlock(SELF) {
    if (__tsan_release) __tsan_release(self);
    ((SWIFT void (*)(SELF))behind(UNLOCK))(self);
}
