#ifndef RECONCILED_CLIBPQ_SHIM_H
#define RECONCILED_CLIBPQ_SHIM_H
#include <libpq-fe.h>
#endif
