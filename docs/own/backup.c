/* A device that uploads a file from time to time: a traffic model in WebAssembly. Build it with
 *
 *     clang --target=wasm32 -O2 -nostdlib -fno-math-errno -Wl,--no-entry -Wl,-z,stack-size=16384 -Wl,--strip-all \
 *         backup.c -o backup-c.wasm
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
           "\"role\": \"traffic\","
           "\"name\": \"backup_c\","
           "\"doc\": \"Uploads of a file at random times, each over a connection of its own, in C.\","
           "\"parameters\": ["
           "  { \"name\": \"file_bytes\", \"unit\": \"bytes\", \"default\": 500000, \"min\": 1, \"max\": 1e12,"
           "    \"number\": \"whole\", \"doc\": \"Size of a file.\" },"
           "  { \"name\": \"mean_pause_s\", \"unit\": \"s\", \"default\": 5, \"min\": 0.001, \"max\": 1e6,"
           "    \"doc\": \"Mean time between them.\" }"
           "]"
           "}";
}

static const double HOME = 0;
static const double WAKE = 1, OPEN = 2, SEND = 3, CLOSE = 5, DATAGRAM = 6;

struct backup {
    double file_bytes, mean_pause_us;
    double opened; /* how many connections there were */
    uint64_t random;
};

/* There is no library: instances lie one after the other behind what the linker has placed. */
extern unsigned char __heap_base;
static unsigned char *next = &__heap_base;

static struct backup *allocate(void) {
    struct backup *traffic = (struct backup *)(((uintptr_t)next + 7) & ~(uintptr_t)7);
    next = (unsigned char *)(traffic + 1);
    while ((uintptr_t)next > __builtin_wasm_memory_size(0) * 65536)
        if (__builtin_wasm_memory_grow(0, 1) == SIZE_MAX) __builtin_trap();
    return traffic;
}

EXPORT("sojourn_start") struct backup *start(uint64_t seed, const double *parameters) {
    struct backup *traffic = allocate();
    *traffic = (struct backup){ .file_bytes = parameters[0], .mean_pause_us = parameters[1] * 1e6, .random = seed };
    return traffic;
}

/* A random number from 0 to 1: SplitMix64. */
static double uniform(struct backup *traffic) {
    uint64_t bits = traffic->random += 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return (double)((bits ^ bits >> 31) >> 11) / (double)(UINT64_C(1) << 53);
}

/* Writes a command, and returns where the next one is. */
static double *command(double *at, double what, double first, double second, double third) {
    at[0] = what, at[1] = first, at[2] = second, at[3] = third;
    return at + 4;
}

EXPORT("on_timer") int32_t on_timer(struct backup *traffic, const double *now_us, double *answer) {
    double *end = command(answer, OPEN, traffic->opened++, 0, 0);
    end = command(end, WAKE, *now_us + 2 * traffic->mean_pause_us * uniform(traffic), 0, 0);
    return end - answer;
}

/* What on_open is called with, and on_acknowledged, which has the end behind them. */
struct event {
    double now_us, connection;
};

EXPORT("on_open") int32_t on_open(struct backup *traffic, const struct event *event, double *answer) {
    double *end = command(answer, SEND, event->connection, HOME, traffic->file_bytes);
    return end - answer;
}

EXPORT("on_acknowledged") int32_t on_acknowledged(struct backup *traffic, const struct event *event, double *answer) {
    (void)traffic;
    double *end = command(answer, DATAGRAM, HOME, 100, 0);
    end = command(end, CLOSE, event->connection, 0, 0);
    return end - answer;
}
