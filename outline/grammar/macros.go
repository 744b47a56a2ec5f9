package grammar

import (
	"bytes"
	"regexp"
	"strings"
)

// blankMacros returns src with the known macros in front of definitions of C
// and C++ as spaces: attributes and export marks, which the grammars take for
// types or names. Offsets and lines stay.
func blankMacros(src []byte) []byte {
	m := macroScanner{src: src}
	m.scan()
	if m.out == nil {
		return src
	}
	return m.out
}

// attributeMacros are known macros that stand for attributes, marks or nothing;
// with arguments they are blanked with them.
var attributeMacros = words(`
	__init __exit __initdata __exitdata __user __kernel __iomem __must_check __always_inline noinline asmlinkage
	__weak __packed __cold __hot __pure __maybe_unused __used __unused __percpu __rcu __ro_after_init __read_mostly
	__printf __scanf __aligned __section __acquires __releases __must_hold __nonnull __THROW __wur __nonnull__
	WINAPI APIENTRY CALLBACK STDMETHODCALLTYPE JNIEXPORT JNICALL EXPORT_API EXPORT G_BEGIN_DECLS G_END_DECLS
	__BEGIN_DECLS __END_DECLS Q_OBJECT Q_GADGET Q_INVOKABLE Q_SLOT Q_SIGNAL Q_PROPERTY Q_ENUM Q_FLAG Q_DISABLE_COPY
	Q_DECLARE_FLAGS Q_INTERFACES QT_BEGIN_NAMESPACE QT_END_NAMESPACE _NODISCARD _CONSTEXPR17 _CONSTEXPR20 _STD_BEGIN _STD_END
	GENERATED_BODY UCLASS USTRUCT UPROPERTY UFUNCTION UENUM FORCEINLINE ALWAYS_INLINE NORETURN NOINLINE`)

// wrapperMacros take a type as their argument, which stays.
var wrapperMacros = words(`PyAPI_FUNC PyAPI_DATA SQLITE_API_TYPE PNG_EXPORT_TYPE`)

// valueMacros look like attributes by their prefix but stand for values.
var valueMacros = words(`_GLIBCXX_MOVE _GLIBCXX_FORWARD _GLIBCXX_MOVE3 _GLIBCXX_MOVE_BACKWARD3 _GLIBCXX_MAKE_MOVE_ITERATOR
	_GLIBCXX_MAKE_MOVE_IF_NOEXCEPT_ITERATOR _GLIBCXX_STD_C _GLIBCXX_STD_A _GLIBCXX_JOIN _GLIBCXX_HOSTED _GLIBCXX_RELEASE
	_GLIBCXX_ADDRESSOF _GLIBCXX_MATH_NS _GLIBCXX_FAST_MATH`)

// attributePrefixes and attributeSuffixes recognise the marks that libraries
// name after themselves.
var (
	attributePrefixes = []string{"_GLIBCXX_", "_GLIBCXX11_", "_GLIBCXX14_", "_GLIBCXX17_", "_GLIBCXX20_", "_GLIBCXX23_", "_LIBCPP_", "BOOST_NOEXCEPT", "BOOST_CONSTEXPR",
		"ABSL_ATTRIBUTE_", "ABSL_MUST_USE", "LLVM_ATTRIBUTE_", "LLVM_ABI", "Q_DECL_", "FMT_CONSTEXPR", "__attribute_"}
	attributeSuffixes = []string{"_API", "_EXPORT", "_EXPORTS", "_PUBLIC", "_DLL", "_DECL", "_INLINE", "_NOEXCEPT", "_NORETURN", "_NODISCARD",
		"_DEPRECATED", "_HIDDEN", "_LOCAL", "_ABI", "_CONSTEXPR", "_NOINLINE", "_BEGIN_DECLS", "_END_DECLS", "_EXTERN", "_EXPORT2", "_CDECL", "_CALLCONV", "_APIENTRY", "_ATTRIBUTE"}
)

func words(list string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

type macroScanner struct {
	src  []byte
	out  []byte // nil until something is blanked
	prev byte   // the last byte that is no space, outside of comments

	braces, parens int // open ones
	groups         []group
	noValues       int // up to here no brace opens a list of values that has an end
}

func (m *macroScanner) scan() {
	src := m.src
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == '#' && (m.prev == 0 || m.lineStart(i)):
			end := directiveEnd(src, i)
			m.directive(i, end)
			i = end
		case c == '"' || c == '\'' && !separatesDigits(src, i):
			i = m.skipString(i)
			m.prev = c
		case c == '/' && i+1 < len(src) && (src[i+1] == '/' || src[i+1] == '*'):
			i = commentEnd(src, i)
		case wordByte[c]:
			i = m.word(i)
		case c == '{' && m.prev == '=':
			i = m.initializer(i)
		default:
			m.mark(c)
			i++
		}
	}
}

// mark notes a byte outside of words, strings and comments.
func (m *macroScanner) mark(c byte) {
	if isSpace(c) {
		return
	}
	m.prev = c
	switch c {
	case '{':
		m.braces++
	case '}':
		m.braces--
	case '(':
		m.parens++
	case ')':
		m.parens--
	}
}

var wordByte = func() (is [256]bool) {
	for c := range 256 {
		is[c] = isWord(byte(c))
	}
	return is
}()

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func (m *macroScanner) lineStart(i int) bool {
	k := bytes.LastIndexByte(m.src[:i], '\n') + 1
	return blank(m.src[k:i])
}

// directiveEnd returns where the preprocessor's line at i ends.
func directiveEnd(src []byte, i int) int {
	for i < len(src) {
		k := bytes.IndexByte(src[i:], '\n')
		if k < 0 {
			return len(src)
		}
		line := bytes.TrimRight(src[i:i+k], "\r")
		i += k + 1
		if len(line) == 0 || line[len(line)-1] != '\\' {
			return i
		}
	}
	return i
}

func commentEnd(src []byte, i int) int {
	end := []byte("\n")
	if src[i+1] == '*' {
		end = []byte("*/")
	}
	k := bytes.Index(src[i+2:], end)
	if k < 0 {
		return len(src)
	}
	return i + 2 + k + len(end)
}

func (m *macroScanner) skipString(i int) int {
	if end := stringEnd(m.src, i); end >= 0 {
		return end + 1
	}
	return len(m.src)
}

// word reads the word at i and blanks it if it is a known macro where an
// attribute can stand.
func (m *macroScanner) word(i int) int {
	src, end := m.src, i
	for end < len(src) && wordByte[src[end]] {
		end++
	}
	prev := m.prev
	m.prev = src[end-1]
	if end-i < 5 {
		return end
	}
	switch c := src[i]; {
	case c == '_', c >= 'A' && c <= 'Z':
	case c == 'a', c == 'n', c == 'e', c == 'f', c == 'c': // asmlinkage, noinline, extern, friend, constexpr
		if end-i > 10 {
			return end
		}
	default:
		return end
	}
	if prev != 0 && strings.IndexByte("=,(+-|!<?/%^[.", prev) >= 0 {
		return end
	}
	name := string(src[i:end])
	if m.keyword(i, end, name) {
		m.prev = prev
		return end
	}
	if wrapperMacros[name] {
		if args := argumentsEnd(src, end); args > 0 {
			open := bytes.IndexByte(src[end:args], '(')
			m.blank(i, end+open+1)
			m.blank(args-1, args)
		}
		return end
	}
	next := skipSpace(src, end)
	if !isAttributeMacro(name) {
		if upper(name) && (m.afterType(i) && callFollows(src, next) || next < len(src) && src[next] == '{' && m.afterTag(i)) {
			m.prev = prev
			m.blank(i, end)
		}
		return end
	}
	switch {
	case next == len(src):
	case src[next] == '(' && !bareMacro(name):
		if args := argumentsEnd(src, end); args > 0 && !hasSuffix(name) {
			m.prev = prev
			m.blank(i, args)
			return args
		}
		return end
	case bytes.HasPrefix(src[next:], []byte("//")), bytes.HasPrefix(src[next:], []byte("/*")):
	case !isWord(src[next]) && strings.IndexByte("~*&[{}();:\"#", src[next]) < 0, bytes.HasPrefix(src[next:], []byte("::")):
		return end
	}
	m.prev = prev
	m.blank(i, end)
	return end
}

// keyword rewrites keywords that the grammar knows under another name or in
// another place, and reports whether word is one.
func (m *macroScanner) keyword(i, end int, word string) bool {
	switch word {
	case "__try", "__catch":
		m.blank(i, i+2) // libstdc++'s names for try and catch
		return true
	case "extern":
		if !bytes.HasPrefix(m.src[skipSpace(m.src, end):], []byte("template")) {
			return false
		}
	case "constexpr":
		if !bytes.HasSuffix(bytes.TrimRight(m.src[:i], " \t\r\n"), []byte("explicit")) {
			return false
		}
	case "friend":
		at := skipSpace(m.src, end)
		if friendOfType.Match(m.src[at:min(len(m.src), at+200)]) {
			return false
		}
	default:
		return false
	}
	m.blank(i, end)
	return true
}

func skipSpace(src []byte, i int) int {
	for i < len(src) && isSpace(src[i]) {
		i++
	}
	return i
}

// friendOfType matches what a friend that is no function begins with.
var friendOfType = regexp.MustCompile(`^(?:class|struct|union|enum|typename)\b|^[\w:<>, ]*;`)

// bareMacro reports whether parentheses behind a macro are not its arguments,
// as in if FOO_CONSTEXPR (condition).
func bareMacro(name string) bool {
	return strings.HasSuffix(name, "_CONSTEXPR") || strings.HasSuffix(name, "_INLINE") || strings.HasSuffix(name, "_NOEXCEPT")
}

func isAttributeMacro(name string) bool {
	if attributeMacros[name] {
		return true
	}
	if valueMacros[name] || !upper(name) && !strings.HasPrefix(name, "__attribute_") {
		return false
	}
	for _, p := range attributePrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return hasSuffix(name)
}

// builtinTypes are complete types: what stands between one of them and the name
// of a function is a calling convention.
var builtinTypes = words("void int char long short float double bool size_t unsigned")

// afterType reports whether a complete type stands before i.
func (m *macroScanner) afterType(i int) bool {
	head := bytes.TrimRight(m.src[:i], " \t\r\n*")
	k := len(head)
	for k > 0 && wordByte[head[k-1]] {
		k--
	}
	return builtinTypes[string(head[k:])]
}

// tagBefore matches the head of an enum, struct, union or class with its name.
var tagBefore = regexp.MustCompile(`\b(?:enum|struct|union|class)\s+\w+\s+$`)

// afterTag reports whether the name of an enum, struct, union or class stands
// before i.
func (m *macroScanner) afterTag(i int) bool { return tagBefore.Match(m.src[max(0, i-100):i]) }

// callFollows reports whether a name and a parenthesis stand at i.
func callFollows(src []byte, i int) bool {
	start := i
	for i < len(src) && wordByte[src[i]] {
		i++
	}
	next := skipSpace(src, i)
	return i > start && next < len(src) && src[next] == '('
}

func upper(name string) bool {
	for i := range len(name) {
		if name[i] >= 'a' && name[i] <= 'z' {
			return false
		}
	}
	return true
}

func hasSuffix(name string) bool {
	for _, s := range attributeSuffixes {
		if strings.HasSuffix(name, s) && len(name) > len(s) {
			return true
		}
	}
	return false
}

// argumentsEnd returns where the parentheses that follow i close, or 0.
func argumentsEnd(src []byte, i int) int {
	for i < len(src) && isSpace(src[i]) {
		i++
	}
	if i == len(src) || src[i] != '(' {
		return 0
	}
	depth := 0
	for limit := min(len(src), i+4096); i < limit; i++ {
		switch src[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case ';':
			return 0
		}
	}
	return 0
}

func (m *macroScanner) blank(from, to int) {
	if m.out == nil {
		m.out = bytes.Clone(m.src)
	}
	for i := from; i < to; i++ {
		if !isSpace(m.out[i]) {
			m.out[i] = ' '
		}
	}
}
