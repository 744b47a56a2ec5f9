package outline

// Language names a language in lower case, as details.language shows it:
// "go", "typescript", "tsx", "javascript", "python", "c", "json", "markdown".
// Text is a file of no language that is known.
type Language string

// Text is the language of a file of no known language.
const Text Language = "text"

// Detect returns the language of a file from its name, and where the name says
// nothing from a #! line at the start of head.
func Detect(name string, head []byte) Language {
	panic("outline: not written yet")
}
