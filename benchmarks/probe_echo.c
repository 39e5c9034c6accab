/* The yardstick of probe_jitter: a UDP echo and who asks it, with nothing between them and the kernel.
 *
 * probe_echo server ADDRESS PORT
 * probe_echo client ADDRESS PORT COUNT INTERVAL_US LENGTH: one round-trip time per line, in nanoseconds.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000LL + at.tv_nsec;
}

int main(int argc, char **argv)
{
    static char data[65536];
    struct sockaddr_in address = {.sin_family = AF_INET};
    int sock = socket(AF_INET, SOCK_DGRAM, 0);
    if (argc < 4 || sock < 0)
        return 2;
    inet_pton(AF_INET, argv[2], &address.sin_addr);
    address.sin_port = htons(atoi(argv[3]));
    if (!strcmp(argv[1], "server")) {
        struct sockaddr_in from;
        if (bind(sock, (struct sockaddr *)&address, sizeof address))
            return 1;
        puts("ready");
        fflush(stdout);
        for (;;) {
            socklen_t size = sizeof from;
            ssize_t got = recvfrom(sock, data, sizeof data, 0, (struct sockaddr *)&from, &size);
            if (got >= 0)
                sendto(sock, data, got, 0, (struct sockaddr *)&from, size);
        }
    }
    if (argc < 7 || connect(sock, (struct sockaddr *)&address, sizeof address))
        return 1;
    for (int left = atoi(argv[4]); left > 0; left--) {
        long long sent = now();
        if (send(sock, data, atoi(argv[6]), 0) < 0 || recv(sock, data, sizeof data, 0) < 0)
            return 1;
        printf("%lld\n", now() - sent);
        usleep(atoi(argv[5]));
    }
    return 0;
}
