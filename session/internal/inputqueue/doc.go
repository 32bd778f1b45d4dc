// Package inputqueue types input into a program's terminal: in order, once per id, and with knowledge of whether the
// program has read it.
//
// Queue types into the terminal, and queues input that the terminal does not accept at once. Its goroutine is the only one
// here. Dedup remembers the ids (idempotency keys) of inputs and lines, across restarts: the owner writes its marks to the
// journal, its state to a file and its notes to the ring. Sequencer does the same for clients that number their input. Replies
// keeps the emulator's replies to queries until the querying command is known. TypeAhead detects whether typed input may still
// be unread, which matters for a secret.
//
// This package knows neither keys, authors nor shells. Offsets count all bytes that the program has printed; sizes are
// bytes.
package inputqueue
