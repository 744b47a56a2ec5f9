<?php

declare(strict_types=1);

namespace App\Billing;

use App\Models\User;
use App\Support\{Clock, Money as Cash};
use function App\helper;
use const App\LIMIT;

require_once __DIR__ . '/bootstrap.php';

const RATE = 0.19;
define('BILLING_MODE', 'test');

/**
 * Something that can be paid.
 */
interface Payable extends \JsonSerializable
{
    const CURRENCY = 'EUR';

    public function amount(): int;

    /** Marks it as paid. */
    public function pay(User $by, ?string $note = null): void;
}

trait Timestamps
{
    protected ?\DateTimeImmutable $createdAt = null;

    public function touch(): static
    {
        $this->createdAt = new \DateTimeImmutable();
        return $this;
    }

    abstract public function save(): bool;
}

enum Status: string implements HasLabel
{
    case Draft = 'draft';
    /** Sent to the customer. */
    case Sent = 'sent';
    case Paid = 'paid';

    public static function fromLabel(string $label): self
    {
        return self::from(strtolower($label));
    }

    public function color(): string
    {
        return match ($this) {
            self::Draft => 'gray',
            default => 'green',
        };
    }
}

/**
 * An invoice.
 *
 * @property int $id
 */
#[Entity(table: 'invoices')]
#[Loggable]
abstract class Invoice extends Model implements Payable
{
    use Timestamps, SoftDeletes;
    use Counts {
        count as protected countAll;
    }

    public const MAX_LINES = 500;
    private const A = 1, B = 2;

    public int $id;
    protected array $lines = [], $notes = [];
    private static ?self $last = null;
    public readonly string $number;
    var $legacy;

    public function __construct(
        private readonly Clock $clock,
        protected string $customer = '',
        int $start = 0,
    ) {
        $this->number = (string) $start;
        self::$last = $this;
    }

    public function __destruct()
    {
    }

    /**
     * The sum of all lines.
     */
    #[Pure]
    public function amount(): int
    {
        $sum = array_reduce($this->lines, function ($carry, $line) {
            return $carry + $line->amount;
        }, 0);
        $round = fn(float $x): int => (int) round($x);
        $format = function (int $value) use ($round) {
            return number_format($value);
        };

        return $round($sum);
    }

    final public static function last(): ?static
    {
        return self::$last;
    }

    abstract protected function render(): string;

    private function &reference(array &$items, int ...$more)
    {
        function nested_helper($x)
        {
            return $x;
        }

        return $items;
    }

    public function anonymous(): object
    {
        return new class ($this) implements Renderer {
            public function render(): string
            {
                return '';
            }
        };
    }
}

final class Credit extends Invoice
{
    protected function render(): string
    {
        return <<<HTML
            <p>credit</p>
            function fake() {}
        HTML;
    }
}

/**
 * Finds an invoice.
 */
function find_invoice(int $id): ?Invoice
{
    return null;
}

if (!function_exists('money')) {
    function money(int $cents): string
    {
        return sprintf('%.2f', $cents / 100);
    }
}

$handler = function (Request $request) {
    return $request;
};

$short = fn($x) => $x * 2;

abstract class Legacy
{
    function old_style() {}
}
?>
<html>
<body><?= money(100) ?></body>
</html>
<?php
function after_html() { return 1; }
