/* Additive increase, multiplicative decrease: a congestion control in WebAssembly. Build it with
 *
 *     clang --target=wasm32 -O2 -nostdlib -fno-math-errno -Wl,--no-entry -Wl,-z,stack-size=16384 -Wl,--strip-all \
 *         aimd.c -o aimd-c.wasm
 */

#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(name)))

static double numbers[64];
static double answers[256];

EXPORT("sojourn_abi") int32_t abi(void) { return 1; }
EXPORT("sojourn_numbers") double *numbers_at(void) { return numbers; }
EXPORT("sojourn_answers") double *answers_at(void) { return answers; }

EXPORT("sojourn_declaration") const char *declaration(void) {
    return "{"
           "\"role\": \"control\","
           "\"name\": \"aimd_c\","
           "\"doc\": \"Slow start, then additive increase and multiplicative decrease, in C.\","
           "\"parameters\": ["
           "  { \"name\": \"gain\", \"default\": 1, \"min\": 0.01, \"max\": 100,"
           "    \"doc\": \"Segments gained per round trip.\" },"
           "  { \"name\": \"left\", \"default\": 0.5, \"min\": 0.1, \"max\": 0.95,"
           "    \"doc\": \"Share of the flight that a loss leaves.\" }"
           "]"
           "}";
}

struct aimd {
    double gain, left;
    double mss_bytes, threshold_bytes;
};

/* There is no library: instances lie one after the other behind what the linker has placed. */
extern unsigned char __heap_base;
static unsigned char *next = &__heap_base;

static struct aimd *allocate(void) {
    struct aimd *control = (struct aimd *)(((uintptr_t)next + 7) & ~(uintptr_t)7);
    next = (unsigned char *)(control + 1);
    while ((uintptr_t)next > __builtin_wasm_memory_size(0) * 65536)
        if (__builtin_wasm_memory_grow(0, 1) == SIZE_MAX) __builtin_trap();
    return control;
}

EXPORT("sojourn_start") struct aimd *start(uint64_t seed, const double *parameters) {
    (void)seed;
    struct aimd *control = allocate();
    *control = (struct aimd){ .gain = parameters[0], .left = parameters[1], .threshold_bytes = __builtin_inf() };
    return control;
}

/* What on_start, on_ack, and on_loss and on_timeout are called with; there could be an on_ecn, too. */
struct start {
    double window_bytes, mss_bytes;
};
struct ack {
    double now_us, window_bytes, flight_bytes, acked_bytes, rtt_us, min_rtt_us;
};
struct loss {
    double now_us, window_bytes, flight_bytes;
};

EXPORT("on_start") int32_t on_start(struct aimd *control, const struct start *connection, double *answer) {
    (void)answer;
    control->mss_bytes = connection->mss_bytes;
    return 0;
}

EXPORT("on_ack") int32_t on_ack(struct aimd *control, const struct ack *ack, double *answer) {
    double gained_bytes = ack->acked_bytes;
    if (ack->window_bytes >= control->threshold_bytes)
        gained_bytes = control->gain * control->mss_bytes * ack->acked_bytes / ack->window_bytes;
    answer[0] = ack->window_bytes + gained_bytes;
    return 1;
}

/* A threshold has two segments at least. */
static double threshold(const struct aimd *control, double bytes) {
    return bytes > 2 * control->mss_bytes ? bytes : 2 * control->mss_bytes;
}

EXPORT("on_loss") int32_t on_loss(struct aimd *control, const struct loss *loss, double *answer) {
    answer[0] = control->threshold_bytes = threshold(control, control->left * loss->flight_bytes);
    return 1;
}

EXPORT("on_timeout") int32_t on_timeout(struct aimd *control, const struct loss *loss, double *answer) {
    control->threshold_bytes = threshold(control, loss->flight_bytes / 2);
    answer[0] = control->mss_bytes;
    return 1;
}
