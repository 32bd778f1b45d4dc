// Package typing is the way of input to a program: what is typed, in which order, once, and whether the
// program has read it.
//
// Queue types into the terminal, in order, what the terminal does not take at once; its goroutine is the
// only one here. Dedup knows by their ids (idempotency keys) inputs and lines that were typed, over
// restarts: the owner keeps its marks in the journal, its state in a file and its notes in the ring.
// Replies keeps what the emulator replied to queries until it is known who asked. Ahead finds out whether
// input that was typed may still wait to be read, as a secret has to know.
//
// Nothing here knows what a key is, who types, or what a shell does with a line. Offsets count the bytes
// the program ever printed; sizes are bytes.
package typing
