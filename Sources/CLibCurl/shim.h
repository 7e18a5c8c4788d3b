#ifndef RECONCILED_CLIBCURL_SHIM_H
#define RECONCILED_CLIBCURL_SHIM_H
// The type-checking macros of <curl/curl.h> hide the variadic functions; the typed fronts below replace both.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// Variadic C functions are not imported into Swift. Each front fixes the one argument type that its options
// take, so that a wrong pairing is a compile error on the Swift side instead of undefined behaviour.

static inline CURLcode reconciled_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

// How long a file of authorities is kept in memory, in seconds. Before 7.87 libcurl reads it for each connection.
static inline CURLcode reconciled_easy_set_ca_cache_timeout(CURL *easy, long value) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, value);
#else
    (void)easy;
    (void)value;
    return CURLE_OK;
#endif
}

static inline CURLcode reconciled_easy_set_large(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode reconciled_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

/* A copy is kept. */
static inline CURLcode reconciled_easy_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t length) {
    struct curl_blob blob = {.data = (void *)bytes, .len = length, .flags = CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

static inline CURLcode reconciled_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode reconciled_easy_set_bytes(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode reconciled_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode reconciled_easy_set_write_callback(
    CURL *easy, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode reconciled_easy_set_debug_callback(CURL *easy, curl_debug_callback value) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
}

static inline CURLcode reconciled_easy_set_prereq_callback(CURL *easy, curl_prereq_callback value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

static inline CURLcode reconciled_easy_set_open_socket_callback(CURL *easy, curl_opensocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline CURLcode reconciled_easy_set_resolver_start_callback(
    CURL *easy, curl_resolver_start_callback value) {
    return curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, value);
}

static inline CURLcode reconciled_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode reconciled_easy_get_large(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode reconciled_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

#endif
