// Package sandbox says what a sandboxed program may reach, and what is put on it so that it reaches nothing else.
//
//	sandbox.toml → File (profiles, strict, with line and column) → Profile, or a built-in one
//	Profile + Place (home, directory, longterm's own directories) → Rules: absolute paths that exist, protected ones found
//	Rules + Level + what the kernel has → Confinement: fields of confine.Spec, or an argument vector; and a Report
//
// A profile is what a person writes. Rules are what it means here and now: nothing in them is looked up again, and later
// changes of the file change no session that runs. A Level is a way of holding rules. One that cannot be had, or cannot
// hold what the rules want kept, is an error: there is no silent run outside, and no silent weaker level than the one a
// profile requires. Without a required level the strongest that is there is taken.
//
// The Report tells what is held and what is not, in words of a table (holds.go) that tests of escapes make good:
// docs/sandbox.md has the table as these tests found it.
//
// The package reads directories, to expand globs and to find protected files, and asks the kernel what it has. It starts
// nothing, knows no session, and is the same for every door. What runs in the child is package confine's.
package sandbox
