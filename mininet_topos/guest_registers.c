/* Preloaded into the User-Mode-Linux kernel: writes the whole register state of a traced process.

   A User-Mode-Linux kernel before 6.13 keeps 2696 bytes of the extended state of a process.  On processors
   with AMX the state has 11008 bytes, and Linux refuses to write a part of it (PTRACE_SETREGSET returns
   EFAULT).  The part that the kernel keeps is a prefix of the state, and it ends before the tiles of AMX
   (Intel SDM volume 1, section 13.4).  This function completes it with the present values of the rest. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char state[1 << 16];

static struct iovec complete_state(pid_t pid, const struct iovec *part)
{
    struct iovec whole = {state, sizeof state};
    if (syscall(SYS_ptrace, PTRACE_GETREGSET, pid, NT_X86_XSTATE, &whole) < 0 || whole.iov_len < part->iov_len)
        return *part;
    memcpy(state, part->iov_base, part->iov_len);
    return whole;
}

long ptrace(enum __ptrace_request request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    pid_t pid = va_arg(arguments, pid_t);
    void *address = va_arg(arguments, void *);
    void *data = va_arg(arguments, void *);
    va_end(arguments);

    struct iovec whole;
    if (request == PTRACE_SETREGSET && address == (void *)NT_X86_XSTATE) {
        whole = complete_state(pid, data);
        data = &whole;
    }
    /* The system call stores a word that it reads; the function of libc returns it (ptrace(2)). */
    long word = 0;
    int reads_word = request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER;
    long result = syscall(SYS_ptrace, request, pid, address, reads_word ? &word : data);
    return reads_word && result == 0 ? word : result;
}
