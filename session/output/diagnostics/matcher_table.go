package diagnostics

// Position as most compilers print it: file:line:column:, with an optional drive.
const (
	unixPath = `(?P<file>(?:[A-Za-z]:[\\/])?[^\s:][^:]*)`
	position = unixPath + `:(?P<line>\d+):(?:(?P<column>\d+):)?`
)

// matcherTable has specific matchers first: the first one that matches a line wins.
var matcherTable = []Matcher{
	{Name: "rustc", Contains: []string{"error", "warning"}, Patterns: []Pattern{
		{Regexp: `^(?P<severity>error|warning)(?:\[(?P<code>[^\]]+)\])?: (?P<message>.+)$`},
		{Regexp: `^\s*--> (?P<file>.+):(?P<line>\d+):(?P<column>\d+)$`},
	}},
	{Name: "tsc", Contains: []string{": error TS", ": warning TS"}, Patterns: []Pattern{
		{Regexp: `^(?P<file>[^\s(][^(]*)\((?P<line>\d+),(?P<column>\d+)\): (?P<severity>error|warning) (?P<code>TS\d+): (?P<message>.*)$`},
	}},
	{Name: "tsc-pretty", Contains: []string{" - error", " - warning"}, Patterns: []Pattern{
		{Regexp: `^` + unixPath + `:(?P<line>\d+):(?P<column>\d+) - (?P<severity>error|warning) (?P<code>TS\d+): (?P<message>.*)$`},
	}},
	{Name: "msvc", Contains: []string{"): error", "): warning", "): fatal error", "): note"}, Patterns: []Pattern{
		{Regexp: `^\s*(?P<file>[^\s(][^(]*)\((?P<line>\d+)(?:,(?P<column>\d+))?\)\s?: (?P<severity>fatal error|error|warning|note)(?: (?P<code>[A-Z]+\d+))?\s?: (?P<message>.*)$`},
	}},
	{Name: "eslint-unix", Contains: []string{"[Error", "[Warning"}, Patterns: []Pattern{
		{Regexp: `^` + unixPath + `:(?P<line>\d+):(?P<column>\d+): (?P<message>.+) \[(?P<severity>Error|Warning)(?:/(?P<code>[^\]]+))?\]$`},
	}},
	{Name: "eslint-stylish", Contains: []string{".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".jsx", ".tsx", ".vue", ".svelte"}, Commands: []string{"eslint", "standard", "xo", "npm", "yarn", "pnpm", "bun"}, Patterns: []Pattern{
		{Regexp: `^(?P<file>(?:[A-Za-z]:)?[^\s:][^:]*\.\w+)$`},
		{Regexp: `^\s+(?P<line>\d+):(?P<column>\d+)\s+(?P<severity>error|warning)\s+(?P<message>.+?)(?:\s\s+(?P<code>\S+))?$`, Loop: true},
	}},
	{Name: "javac", Contains: []string{".java:"}, Patterns: []Pattern{
		{Regexp: `^(?P<file>(?:[A-Za-z]:)?[^\s:\[][^:]*\.java):(?P<line>\d+): (?P<severity>error|warning): (?:\[(?P<code>[\w-]+)\] )?(?P<message>.*)$`},
	}},
	{Name: "maven", Contains: []string{"[ERROR]", "[WARNING]"}, Patterns: []Pattern{
		{Regexp: `^\[(?P<severity>ERROR|WARNING)\] (?P<file>\S.*\.\w+):\[(?P<line>\d+),(?P<column>\d+)\] (?P<message>.*)$`},
	}},
	{Name: "mypy", Contains: []string{".py:"}, Patterns: []Pattern{
		{Regexp: `^(?P<file>(?:[A-Za-z]:)?[^\s:][^:]*\.pyi?):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<severity>error|warning|note): (?P<message>.*?)(?:  \[(?P<code>[\w-]+)\])?$`},
	}},
	{Name: "flake8", Contains: []string{".py:"}, Severity: Warning, Patterns: []Pattern{
		{Regexp: `^(?P<file>(?:[A-Za-z]:)?[^\s:][^:]*\.pyi?):(?P<line>\d+):(?P<column>\d+): (?P<code>[A-Z]{1,3}\d{3,4}):? (?P<message>.*)$`},
	}},
	{Name: "gcc", Contains: []string{"error: ", "warning: ", "note: "}, Patterns: []Pattern{
		{Regexp: `^` + position + `\s+(?P<severity>fatal error|error|warning|note): (?P<message>.*?)(?: \[(?P<code>-W[^\]]+|SC\d+|[\w.-]+-[\w.,-]+)\])?$`},
	}},
	{Name: "make", Contains: []string{"*** "}, Patterns: []Pattern{
		{Regexp: `^(?:(?:g|mingw32-)?make(?:\[\d+\])?: )?(?:(?P<file>[^\s:*][^:*]*):(?P<line>\d+): )?\*\*\* (?P<message>.+)$`},
	}},
	{Name: "ld", Contains: []string{"undefined reference", "multiple definition"}, Patterns: []Pattern{
		{Regexp: `^(?:(?:\S*/)?[\w-]*ld(?:\.\w+)?: )?(?:\S+\.[oa](?:\([^)]*\))?:? ?)?(?P<file>[^\s:(]+):(?:(?P<line>\d+)|\([^)]*\)): (?P<message>(?:more )?(?:undefined|multiple).*)$`},
	}},
	{Name: "ld-other", Contains: []string{"cannot find", "undefined symbol", "duplicate symbol", "ld returned", "not recognized", "linker command failed", "undefined reference"}, Patterns: []Pattern{
		{Regexp: `^(?:\S*/)?(?:[\w-]*ld(?:\.\w+)?|collect2|clang(?:\+\+)?): (?P<severity>error: |warning: )?(?P<message>.*)$`},
	}},
	{Name: "go", Contains: []string{".go:"}, Patterns: []Pattern{
		{Regexp: `^(?:vet: )?(?P<file>(?:[A-Za-z]:)?[^\s:][^:]*\.go):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<message>.*?)(?: \((?P<code>[A-Z]+\d+|[a-z]+)\))?$`},
	}},
}
