/* CoDel (RFC 8289, section 5) as a queue law in WebAssembly. Build it with
 *
 *     clang --target=wasm32 -O2 -nostdlib -fno-math-errno -Wl,--no-entry -Wl,-z,stack-size=16384 -Wl,--strip-all \
 *         codel.c -o codel-c.wasm
 */

#include <stdbool.h>
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(name)))

static double numbers[64];
static double answers[256];

EXPORT("sojourn_abi") int32_t abi(void) { return 1; }
EXPORT("sojourn_numbers") double *numbers_at(void) { return numbers; }
EXPORT("sojourn_answers") double *answers_at(void) { return answers; }

EXPORT("sojourn_declaration") const char *declaration(void) {
    return "{"
           "\"role\": \"law\","
           "\"name\": \"codel_c\","
           "\"doc\": \"CoDel, in C.\","
           "\"parameters\": ["
           "  { \"name\": \"target_ms\", \"unit\": \"ms\", \"default\": 5, \"min\": 0.01, \"max\": 10000,"
           "    \"doc\": \"Acceptable standing sojourn time.\" },"
           "  { \"name\": \"interval_ms\", \"unit\": \"ms\", \"default\": 100, \"min\": 0.1, \"max\": 100000,"
           "    \"doc\": \"Time within which the sojourn time must fall below the target.\" }"
           "],"
           "\"gauges\": [{ \"name\": \"count\", \"unit\": \"drops\" }]"
           "}";
}

/* What on_departure is called with. */
struct departure {
    double now_us, bytes, backlog_bytes, sojourn_us, ecn, flow;
};

static const double PASS = 0, MARK = 1;
/* With no more than a full packet behind it, nothing is dropped. */
static const double MTU_BYTES = 1514;

struct codel {
    double target_us, interval_us;
    double first_above_us; /* 0: the sojourn time is below the target */
    double drop_next_us;
    double count, last_count;
    bool dropping, has_dropped;
};

/* There is no library: instances lie one after the other behind what the linker has placed. */
extern unsigned char __heap_base;
static unsigned char *next = &__heap_base;

static struct codel *allocate(void) {
    struct codel *law = (struct codel *)(((uintptr_t)next + 7) & ~(uintptr_t)7);
    next = (unsigned char *)(law + 1);
    while ((uintptr_t)next > __builtin_wasm_memory_size(0) * 65536)
        if (__builtin_wasm_memory_grow(0, 1) == SIZE_MAX) __builtin_trap();
    return law;
}

EXPORT("sojourn_start") struct codel *start(uint64_t seed, const double *parameters) {
    (void)seed;
    struct codel *law = allocate();
    *law = (struct codel){ .target_us = parameters[0] * 1e3, .interval_us = parameters[1] * 1e3 };
    return law;
}

static double control_law(const struct codel *law, double from_us) {
    return from_us + law->interval_us / __builtin_sqrt(law->count);
}

static bool ok_to_drop(struct codel *law, const struct departure *packet) {
    if (packet->sojourn_us < law->target_us || packet->backlog_bytes <= MTU_BYTES) {
        law->first_above_us = 0;
        return false;
    }
    if (law->first_above_us == 0) law->first_above_us = packet->now_us + law->interval_us;
    return packet->now_us >= law->first_above_us;
}

/* Begins to drop, where the last episode left off if that was not long ago. */
static void enter(struct codel *law, double now_us) {
    bool is_recent = now_us - law->drop_next_us < 16 * law->interval_us;
    double dropped = law->count - law->last_count;
    law->count = is_recent && dropped > 1 ? dropped : 1;
    law->last_count = law->count;
    law->drop_next_us = control_law(law, now_us);
    law->dropping = true;
}

static bool signals(struct codel *law, const struct departure *packet) {
    bool ok = ok_to_drop(law, packet);
    bool has_dropped = law->has_dropped;
    law->has_dropped = false;
    if (!law->dropping) {
        if (ok) enter(law, packet->now_us);
        return ok;
    }
    if (has_dropped) { /* the head after a drop */
        law->count += 1;
        if (ok) law->drop_next_us = control_law(law, law->drop_next_us);
    }
    law->dropping = ok;
    law->has_dropped = ok && packet->now_us >= law->drop_next_us;
    return law->has_dropped;
}

EXPORT("on_departure") int32_t on_departure(struct codel *law, const struct departure *packet, double *answer) {
    answer[0] = signals(law, packet) ? MARK : PASS;
    return 1;
}

EXPORT("on_empty") int32_t on_empty(struct codel *law, const double *now_us, double *answer) {
    (void)now_us, (void)answer;
    if (law->has_dropped) law->count += 1;
    law->has_dropped = law->dropping = false;
    law->first_above_us = 0;
    return 0;
}

EXPORT("gauges") int32_t gauges(struct codel *law, const double *none, double *answer) {
    (void)none;
    answer[0] = law->dropping ? law->count : 0;
    return 1;
}
