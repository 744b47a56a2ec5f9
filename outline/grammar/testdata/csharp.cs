// The accounts of a small bank.
using System;
using System.Collections.Generic;
using static System.Math;
using Money = System.Decimal;

[assembly: CLSCompliant(true)]

namespace Bank.Accounts
{
    /// <summary>
    /// Tells how an account moves.
    /// </summary>
    public delegate void Changed(object sender, decimal amount);

    [Flags]
    public enum Rights : byte
    {
        None = 0,
        Read = 1,
        /// <summary>May write.</summary>
        Write = 2,
        All = Read | Write
    }

    public interface IAccount : IDisposable
    {
        string Id { get; }
        decimal Balance { get; set; }
        event Changed OnChange;
        void Deposit(decimal amount);
        bool TryWithdraw(decimal amount, out decimal rest);
        decimal this[int day] { get; }
    }

    /// <summary>The base of all accounts.</summary>
    /// <remarks>Not thread safe.</remarks>
    [Serializable]
    [Obsolete("use Ledger")]
    public abstract partial class Account<T> : IAccount where T : class, new()
    {
        private const int MaxHistory = 100;
        private readonly List<decimal> history = new List<decimal>(), pending;
        protected static int count, total = 0;
        public event Changed OnChange;
        public event EventHandler Closed
        {
            add { closed += value; }
            remove { closed -= value; }
        }
        private EventHandler closed;

        static Account()
        {
            count = 0;
        }

        protected Account(string id) : this(id, 0)
        {
        }

        public Account(string id, decimal balance)
        {
            Id = id;
            Func<decimal, decimal> twice = x => x * 2;
            decimal Round(decimal value)
            {
                return Math.Round(value, 2);
            }
            Balance = Round(balance);
        }

        ~Account()
        {
            count--;
        }

        public string Id { get; private set; }

        public virtual decimal Balance
        {
            get => history[^1];
            set
            {
                history.Add(value);
            }
        }

        public bool IsEmpty => history.Count == 0;

        public decimal this[int day]
        {
            get { return history[day]; }
        }

        [Pure]
        public abstract decimal Fee(decimal amount);

        public void Deposit(decimal amount) => Balance += amount;

        /// <inheritdoc/>
        public bool TryWithdraw(decimal amount, out decimal rest)
        {
            rest = Balance - amount;
            return rest >= 0;
        }

        async Task<int> SaveAsync<TStore>(
            TStore store,
            CancellationToken token = default)
            where TStore : IStore
        {
            await store.Put(this);
            return 1;
        }

        void IDisposable.Dispose() { }

        public static Account<T> operator +(Account<T> a, Account<T> b)
        {
            return a;
        }

        public static implicit operator string(Account<T> a) => a.Id;

        public static explicit operator decimal(Account<T> a)
        {
            return a.Balance;
        }

        private class Entry
        {
            public DateTime When;
            internal decimal Amount { get; init; }
        }

        protected struct Range
        {
            public int From, To;
        }
    }

    public record Person(string First, string Last)
    {
        public string Full => First + Last;
    }

    public record struct Point(int X, int Y);

    public readonly struct Amount
    {
        public readonly decimal Value;
        public Amount(decimal value) { Value = value; }
    }

    public static class Extensions
    {
        public static bool IsRich(this IAccount account)
        {
            bool Local() => account.Balance > 1000;
            return Local();
        }
    }

    namespace Nested
    {
        internal sealed class Audit
        {
            internal unsafe void Run(int* p) { }
        }
    }
}

namespace Other
{
    class Program
    {
        static void Main(string[] args)
        {
            Console.WriteLine("hello");
        }
    }
}
